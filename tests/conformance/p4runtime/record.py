# SPDX-License-Identifier: Apache-2.0
"""Prints what a server does instead of what the specification says, as `deviations` has it.

`python -m conformance.p4runtime.record simple_switch_grpc` (from tests/) for a version that is new.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from conformance.p4runtime.checks import Deviation
from conformance.p4runtime.listed import LISTED
from conformance.p4runtime.servers import SERVERS


def main(name: str) -> None:
    """Runs all checks on a server."""
    with tempfile.TemporaryDirectory() as directory:
        server = SERVERS[name](Path(directory), len(LISTED))
        try:
            for check in LISTED:
                with server.lab(silent=True) as lab:
                    try:
                        check.run(lab)
                    except Deviation as deviation:
                        print(f"# {check.section} {check.sentence}")
                        print(f'{check.id!r}: Known({str(deviation)!r}, ""),')
                    except AssertionError as error:
                        print(f"{check.id!r}: FAILS {str(error)[:200]}")
        finally:
            server.stop()


if __name__ == "__main__":
    main(sys.argv[1])
