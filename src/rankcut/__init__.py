"""rankcut learns to rank so that the relevant samples come first."""

__version__ = "0.1.0"
