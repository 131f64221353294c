"""A generated shop: its database, rules, customers with devices of their own, and tasks."""
