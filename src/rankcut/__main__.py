"""`python -m rankcut` is the command `rankcut`."""

import sys

from rankcut.cli import main

sys.exit(main())
