"""Search over orders: beam search, given orders, constraints."""
