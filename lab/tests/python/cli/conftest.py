# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of the laboratory's verbs."""

from command_said import tollbar as tollbar
