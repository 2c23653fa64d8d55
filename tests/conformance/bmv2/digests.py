# SPDX-License-Identifier: Apache-2.0
"""Names of the members of digests. The JSON only lists the fields to send, which the compiler may have copied
to unnamed ones; the P4Info has the names, in the same order.
"""

from __future__ import annotations

import re
from pathlib import Path

P4INFO = Path(__file__).resolve().parents[3] / "p4" / "clarion.p4info.txtpb"


def member_names(info: Path = P4INFO) -> dict[str, list[str]]:
    """Return the members of every struct in a P4Info in text form."""
    structs = re.findall(r'\n  structs \{\n    key: "(\w+)"(.*?)\n  \}', info.read_text(), re.DOTALL)
    return {name: re.findall(r'\n +name: "(\w+)"', body) for name, body in structs}
