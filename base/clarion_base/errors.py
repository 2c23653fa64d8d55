# SPDX-License-Identifier: Apache-2.0
"""The errors that reach a user: always one line that names what is wrong and what would be right."""

from __future__ import annotations


class UserError(Exception):
    """Something the user gave or the machine lacks; the text is the whole message, without a traceback."""


class RunFailedError(UserError):
    """A run that died; its partial results are already written."""


class Interrupted(BaseException):
    """SIGINT or SIGTERM arrived; the run stops, writes what it has and exits with 128 + signal.

    A request rather than an error: like KeyboardInterrupt it passes `except Exception`.
    """

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.signal_number = signal_number
