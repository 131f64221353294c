"""The scripted user: what it knows and wants, how it hears and answers, and the proof of it."""
