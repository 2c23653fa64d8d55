# SPDX-License-Identifier: Apache-2.0
"""What the servers are known to do instead of what the specification says: check, outcome, and why.

Each is asserted exactly, so that one that is mended is noticed. docs/p4runtime.md has them as a table.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Known:
    """`found`: the outcome as the check reports it. `why`: the same for the reader of the documentation."""

    found: str
    why: str


CANNOT_WRITE = "UNIMPLEMENTED: the switch takes no values for them, it can only start them anew"

AGENT: dict[str, Known] = {
    "a_counter_is_set": Known("UNKNOWN [UNIMPLEMENTED]", CANNOT_WRITE),
    "a_counter_array_is_set": Known("UNKNOWN [UNIMPLEMENTED]", CANNOT_WRITE),
    "registers_can_be_written": Known("UNKNOWN [UNIMPLEMENTED]", CANNOT_WRITE),
    "groups_have_other_ids": Known(
        "UNKNOWN [INVALID_ARGUMENT]", "INVALID_ARGUMENT: the program uses group 1 only"
    ),
    "a_clone_session_is_inserted": Known(
        "UNKNOWN [UNIMPLEMENTED]", "UNIMPLEMENTED: the program clones nothing"
    ),
    "a_default_entry_that_is_not_constant": Known(
        "UNKNOWN [UNIMPLEMENTED]", "UNIMPLEMENTED: `clock` keeps its initial value"
    ),
}
SIMPLE_SWITCH_GRPC: dict[str, Known] | None = None  # not recorded yet: `record` prints it
DEVIATIONS: dict[str, dict[str, Known] | None] = {"agent": AGENT, "simple_switch_grpc": SIMPLE_SWITCH_GRPC}
