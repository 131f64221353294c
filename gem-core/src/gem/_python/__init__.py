"""What we add to Python itself: checked arguments, keyed chance, waits across threads and loops.

Each module does one thing that the standard library lacks. Imports nothing of ours but errors, and
knows nothing about environments.
"""
