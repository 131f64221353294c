"""Hand a run on: its episodes in the formats that other tools read, one module a format."""
