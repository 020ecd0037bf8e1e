# SPDX-License-Identifier: Apache-2.0
"""What each bench measures: which programs, with which flags, in which situations; and how they are run."""
