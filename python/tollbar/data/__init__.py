# SPDX-License-Identifier: Apache-2.0
"""The measurements: records and runs, sorted into situations, with their statistics."""
