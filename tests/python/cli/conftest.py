# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of verbs."""

from command_said import tollbar as tollbar
from through_run import real as real
