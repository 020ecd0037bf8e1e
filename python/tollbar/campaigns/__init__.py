# SPDX-License-Identifier: Apache-2.0
"""The measures of each bench: which programs, with which flags, in which situations; and how they are run."""
