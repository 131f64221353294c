"""The backend "ray": environments in actors, which hold many each."""
