"""What runs inside the sandbox: the standard library alone, and no import at module level of more.

These modules are also seen by untrusted programs. Nothing in them is a secret.
"""
