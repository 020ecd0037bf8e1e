# SPDX-License-Identifier: Apache-2.0
"""The error of what this machine, or a program that was started on it, could not do."""


class Failure(RuntimeError):
    """One line that says what could not be done, and why."""
