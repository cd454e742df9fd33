"""How the parser inside the package is trained."""
