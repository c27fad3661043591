"""``python -m lacunet`` is the command line."""

import sys

from lacunet.cli import main

if __name__ == "__main__":
    sys.exit(main())
