"""What the command line's exit status says."""

DONE = 0
FAILED = 1
USAGE = 2  # wrong usage or input
INTERRUPTED = 130
