# SPDX-License-Identifier: Apache-2.0
"""Looking at running programs that nobody prepared: what is seen, and what follows from it."""
