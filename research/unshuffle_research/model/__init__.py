"""How the model inside the package is made."""
