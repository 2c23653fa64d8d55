# SPDX-License-Identifier: Apache-2.0
"""The command `clarion`: what all packages offer, in the order of `clarion --help`."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence

from clarion import wiring
from clarion_agent.commands import COMMANDS as AGENT
from clarion_base import __version__
from clarion_base.commands import EXIT_FAILED, EXIT_USAGE, add_commands
from clarion_base.errors import Interrupted, UserError
from clarion_control.commands import COMMANDS as CONTROLLER
from clarion_lab.commands import COMMANDS as EXPERIMENTS
from clarion_nic.commands import COMMANDS as NIC

COMMANDS = (*EXPERIMENTS, *CONTROLLER, *AGENT, *NIC)
EXIT_INTERRUPTED = 128 + signal.SIGINT


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; errors are one line on stderr."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = _parser(given[0] if given else None).parse_args(given)
    try:
        status: int = options.run(options)
    except Interrupted as stop:
        return 128 + stop.signal_number
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except UserError as error:
        print(f"clarion: {error}", file=sys.stderr)
        return EXIT_USAGE
    except BrokenPipeError:
        return EXIT_FAILED
    except OSError as error:
        print(f"clarion: {error}", file=sys.stderr)
        return EXIT_FAILED
    return status


def _parser(chosen: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="clarion",
        description="Experiments with explicit rate feedback and loss causes, the controller of switches and "
        "NICs, and their P4Runtime servers.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    parser.set_defaults(
        scenario_library=wiring.scenario_library,
        nic_source=wiring.nic_source,
    )
    add_commands(parser, COMMANDS, chosen)
    return parser
