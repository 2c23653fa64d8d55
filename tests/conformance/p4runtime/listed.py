# SPDX-License-Identifier: Apache-2.0
"""The whole list, in the order of the specification."""

from __future__ import annotations

from conformance.p4runtime import (
    arbitration,
    arrays,
    configuring,
    digests,
    formatting,
    reading,
    replication,
    streaming,
    tables,
    writing,
)
from conformance.p4runtime.checks import CHECKS, Check

MODULES = (
    arbitration,
    arrays,
    configuring,
    digests,
    formatting,
    reading,
    replication,
    streaming,
    tables,
    writing,
)


def _place(check: Check) -> list[tuple[bool, int, str]]:
    """Sections in their order; the appendix comes last."""
    parts = check.section.split(".")
    return [(not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]


LISTED = sorted(CHECKS.values(), key=_place)
