"""Commands that join `unshuffle` when this package is installed."""
