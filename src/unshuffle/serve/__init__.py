"""The HTTP service and its page: both only call an `Orderer`."""
