"""Data: what comes from users is checked and put in shape here, and only here."""

from rankcut.data.demo import load_demo
from rankcut.data.lists import Lists

__all__ = ["Lists", "load_demo"]
