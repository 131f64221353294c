"""What every customer service has: databases, tools, scoring. Knows no shop and no user."""
