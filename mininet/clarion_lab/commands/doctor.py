# SPDX-License-Identifier: Apache-2.0
"""`clarion doctor`."""

from __future__ import annotations

import argparse

from clarion_base.commands import EXIT_FAILED
from clarion_lab.machine import doctor


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command has no options."""
    parser.set_defaults(run=_doctor)


def _doctor(_: argparse.Namespace) -> int:
    findings = doctor.examine()
    for finding in findings:
        print(finding.line)
    return 0 if doctor.ready(findings) else EXIT_FAILED
