"""Speed and memory, measured as ratios within one run: `python -m unshuffle_research.benchmarks`."""
