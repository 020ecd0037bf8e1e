# SPDX-License-Identifier: Apache-2.0
"""What was measured: records and runs, sorted into situations, with their statistics."""
