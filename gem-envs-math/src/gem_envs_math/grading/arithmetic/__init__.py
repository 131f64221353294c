"""Compute an expression from its tokens: in a finite field, exactly, or in digits."""
