"""Slow, obvious twins of every kernel: brute force and the papers' own algorithms, in NumPy alone."""
