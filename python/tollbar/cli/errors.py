# SPDX-License-Identifier: Apache-2.0
"""The errors of a command that cannot answer: one line that says what to do, and the exit code."""


class CommandError(Exception):
    """One line for stderr. Raise one of those below."""

    exit_code = 2


class WrongUse(CommandError):
    """The question cannot be asked this way, or a file or program it needs is not there; exit code 2."""

    exit_code = 2


class Ended(WrongUse):
    """The program that the question is about is there no more."""


class CheckFailed(CommandError):
    """The work was tried and failed; exit code 1. With rows to show, use Table(failed=True)."""

    exit_code = 1


class NotPermitted(CommandError):
    """It could not be looked at: the system forbids it, and the line names the setting and what would help, or a
    program or library is not there; exit code 3. With rows to show, use Table(unknown=True)."""

    exit_code = 3


class Interrupted(CommandError):
    """Work that says how far it has come was interrupted; exit code 130."""

    exit_code = 130
