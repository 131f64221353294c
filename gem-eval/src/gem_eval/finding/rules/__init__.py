"""The rules of gem-eval itself, a file each, with the examples that each is tested by."""
