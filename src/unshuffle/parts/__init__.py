"""The registry of parts that can take each other's place."""
