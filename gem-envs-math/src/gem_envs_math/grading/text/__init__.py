"""Cut an answer's text into tokens. Knows nothing about what they mean."""
