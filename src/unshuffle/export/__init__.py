"""Models in forms that other runtimes read."""
