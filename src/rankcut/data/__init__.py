"""Data: what comes from users is checked and put in shape here, and only here."""

from rankcut.data.bags import Bags
from rankcut.data.demo import load_demo
from rankcut.data.grades import Grades
from rankcut.data.graph import Graph
from rankcut.data.lists import Lists

__all__ = [
    "Bags",
    "Grades",
    "Graph",
    "Lists",
    "load_demo",
]
