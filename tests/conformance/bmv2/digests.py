# SPDX-License-Identifier: Apache-2.0
"""Names of the members of digests, from the P4Info. The JSON only lists the fields to send, in the same
order, and the compiler may have copied them to temporary ones.
"""

from __future__ import annotations

import re
from pathlib import Path

P4INFO = Path(__file__).resolve().parents[3] / "p4" / "clarion.p4info.txtpb"


def member_names(info: Path = P4INFO) -> dict[str, list[str]]:
    """Return the members of every struct in a P4Info in text form."""
    structs = re.findall(r'\n  structs \{\n    key: "(\w+)"(.*?)\n  \}', info.read_text(), re.DOTALL)
    return {name: re.findall(r'\n +name: "(\w+)"', body) for name, body in structs}
