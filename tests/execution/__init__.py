"""What must hold of every way to run environments: tests across distributions and backends."""
