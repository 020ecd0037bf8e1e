# SPDX-License-Identifier: Apache-2.0
"""`python -m tollbar`: the same command as `tollbar`."""

import sys

from tollbar.cli import main

if __name__ == "__main__":
    sys.exit(main())
