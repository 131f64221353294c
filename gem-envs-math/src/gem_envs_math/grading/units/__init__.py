"""Know units: their names and prefixes, products and powers, and where one begins."""
