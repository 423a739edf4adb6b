"""``python -m trine.vision``: see ``--help``."""

import sys

from trine.vision.cli.classify import main

if __name__ == "__main__":
    sys.exit(main())
