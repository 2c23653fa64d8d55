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


CANNOT_WRITE = "UNIMPLEMENTED: they can be read only"
FILTERS = "finds all entries that the other fields select"

AGENT: dict[str, Known] = {
    "direct_counters_cannot_be_inserted": Known(
        "UNKNOWN [UNIMPLEMENTED]", "UNIMPLEMENTED: the program has none"
    ),
    "counters_cannot_be_inserted": Known("UNKNOWN [UNIMPLEMENTED]", CANNOT_WRITE),
    "a_counter_is_set": Known("UNKNOWN [UNIMPLEMENTED]", CANNOT_WRITE),
    "a_counter_array_is_set": Known("UNKNOWN [UNIMPLEMENTED]", CANNOT_WRITE),
    "a_counter_without_data_is_not_modified": Known("UNKNOWN [UNIMPLEMENTED]", CANNOT_WRITE),
    "a_counter_index_that_is_none": Known("UNKNOWN [OUT_OF_RANGE]", "OUT_OF_RANGE for both"),
    "registers_can_be_written": Known("UNKNOWN [UNIMPLEMENTED]", CANNOT_WRITE),
    "a_register_index_that_is_none": Known("UNKNOWN [OUT_OF_RANGE]", "OUT_OF_RANGE for both"),
    "register_data_of_another_type": Known("UNKNOWN [UNIMPLEMENTED]", CANNOT_WRITE),
    "groups_have_other_ids": Known(
        "UNKNOWN [INVALID_ARGUMENT]", "INVALID_ARGUMENT: the program uses group 1 only"
    ),
    "a_clone_session_is_inserted": Known(
        "UNKNOWN [UNIMPLEMENTED]", "UNIMPLEMENTED: the program clones nothing"
    ),
    "clone_session_zero_cannot_be_written": Known(
        "UNKNOWN [UNIMPLEMENTED]", "UNIMPLEMENTED, as of any session"
    ),
    "constant_entries_cannot_be_written": Known("OK", "the flag is ignored"),
    "an_action_out_of_its_scope": Known("UNKNOWN [INVALID_ARGUMENT]", "INVALID_ARGUMENT"),
    "a_default_entry_that_is_not_constant": Known(
        "UNKNOWN [UNIMPLEMENTED]", "UNIMPLEMENTED: `clock` keeps its initial value"
    ),
    "entries_by_their_action": Known("1", FILTERS),
    "entries_by_their_metadata": Known("2", FILTERS),
    "entries_by_their_controller_metadata": Known("2", FILTERS),
}
SIMPLE_SWITCH_GRPC: dict[str, Known] | None = None  # not recorded yet: `record` prints it
DEVIATIONS: dict[str, dict[str, Known] | None] = {"agent": AGENT, "simple_switch_grpc": SIMPLE_SWITCH_GRPC}
