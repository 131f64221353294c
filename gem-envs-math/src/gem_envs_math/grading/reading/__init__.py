"""Read what an answer is from its tokens: a number, a list, an equation, words."""
