"""Say whether two answers that were read are the same: a rule for each pair of shapes."""
