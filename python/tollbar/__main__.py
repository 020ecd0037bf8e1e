# SPDX-License-Identifier: Apache-2.0
"""`python -m tollbar`: the same command as `tollbar`."""

import sys

if __name__ == "__main__":
    try:
        from tollbar.cli import main

        sys.exit(main())
    except KeyboardInterrupt:
        print("tollbar: interrupted", file=sys.stderr)
        sys.exit(130)
