# SPDX-License-Identifier: Apache-2.0
"""The table of commands: each package lists its own, the command line imports the one that is run."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

EXIT_FAILED = 1
EXIT_USAGE = 2


@dataclass(frozen=True)
class Command:
    """A word after `clarion`.

    `module` has `add_options(parser)`, which also sets the default `run`: a function that takes the parsed
    options and returns the exit status.
    """

    name: str
    summary: str
    module: str


def add_commands(parser: argparse.ArgumentParser, commands: Sequence[Command], chosen: str | None) -> None:
    """Add all commands to the parser, and the options of the chosen one.

    Only its module is imported: plotting, gRPC and the database take a second that `clarion --help` has not.
    """
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in commands:
        subparser = subparsers.add_parser(command.name, help=command.summary)
        if command.name == chosen:
            import_module(command.module).add_options(subparser)


def positive(text: str) -> int:
    """A whole number from 1, as the type of an option."""
    if not text.isdecimal() or not 1 <= int(text) <= 10**9:
        raise argparse.ArgumentTypeError(f"{text}: use a whole number from 1")
    return int(text)


def natural(text: str) -> int:
    """A whole number from 0, as the type of an option."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text}: use a whole number from 0")
    return int(text)
