"""Benchmarks against real peers, side by side in one run: `python -m benchmarks`. Nothing here is asserted."""
