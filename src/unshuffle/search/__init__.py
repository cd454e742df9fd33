"""Search over orders, in numpy: the same code serves every runtime."""
