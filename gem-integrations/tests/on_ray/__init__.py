"""The backend "ray", in a real Ray of this machine."""
