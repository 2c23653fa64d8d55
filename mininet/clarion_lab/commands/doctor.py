# SPDX-License-Identifier: Apache-2.0
"""`clarion doctor`."""

from __future__ import annotations

import argparse
from pathlib import Path

from clarion_base.commands import EXIT_FAILED
from clarion_base.errors import UserError
from clarion_lab.controller.rest_client import RestClient
from clarion_lab.controller.wire_conflicts import conflicts
from clarion_lab.machine import doctor


def add_options(parser: argparse.ArgumentParser) -> None:
    """Without options about this machine only."""
    parser.add_argument(
        "--controller",
        metavar="URL",
        help="also look for declared wires that LLDP denies at this controller's switches",
    )
    parser.add_argument("--token-file", type=Path, metavar="FILE", help="with a token for it")
    parser.add_argument("--controller-ca", type=Path, metavar="PEM", help="who signed its certificate")
    parser.set_defaults(run=_doctor)


def _doctor(options: argparse.Namespace) -> int:
    client = _client(options)
    found = [] if client is None else conflicts(client)
    findings = doctor.examine()
    for finding in findings:
        print(finding.line)
    for conflict in found:
        print(f"conflict {conflict}")
    if client is not None and not found:
        print(f"ok       wires: no port at {client.url} is declared one that LLDP denies")
    return 0 if doctor.ready(findings) and not found else EXIT_FAILED


def _client(options: argparse.Namespace) -> RestClient | None:
    if options.controller is None:
        for name in ("token_file", "controller_ca"):
            if getattr(options, name):
                raise UserError(f"--{name.replace('_', '-')}: only together with --controller")
        return None
    if options.token_file is None:
        raise UserError("--controller: give a token with --token-file")
    return RestClient.with_token_of(options.controller, options.token_file, options.controller_ca)
