# SPDX-License-Identifier: Apache-2.0
"""Verbs that the laboratory adds to the command `tollbar`."""
