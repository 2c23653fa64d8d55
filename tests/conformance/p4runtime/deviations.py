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


FILTERS = "finds all entries that the other fields select"
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
ROLES = "there are no roles: all controllers are of one"
MOVES_UP = "the next lower election id is primary at once, and is told OK"
UNSET_IS_ZERO = "OK: an election id that is not set is taken for 0"
ANY_DEVICE = "OK: any device id gets its own arbitration"
NOT_CHECKED = "OK: it is not looked at"
CRASHES = "the process ends without a word at the next Write"
AS_ZERO = "OK: it is taken for 0"
NO_CODE = "UNKNOWN, as of all that BMv2 itself refuses"
NO_REGISTERS = "UNIMPLEMENTED: registers can be neither read nor written"
NO_DIGEST_READ = "UNIMPLEMENTED: only one digest can be read at a time"
FIRST_ERROR = "the Read ends at the first error, with its code and no details"
BACKUPS = "OK: backups are ignored, and not read back"

SIMPLE_SWITCH_GRPC: dict[str, Known] = {
    # Arbitration.
    "each_role_has_its_primary": Known("ALREADY_EXISTS", ROLES),
    "roles_may_have_the_same_election_id": Known("ends the stream with INVALID_ARGUMENT", ROLES),
    "other_roles_are_not_told": Known("('ALREADY_EXISTS', 6)", ROLES),
    "a_role_config_of_an_unknown_scheme": Known("OK", NOT_CHECKED),
    "a_stream_keeps_its_role": Known("nothing", ROLES),
    "a_write_with_an_unknown_role": Known("OK", ROLES),
    "a_config_with_an_unknown_role": Known("OK", ROLES),
    "a_primary_leaves": Known("OK", MOVES_UP),
    "no_backup_moves_up_by_itself": Known("OK", MOVES_UP),
    "an_election_id_is_free_when_its_stream_ends": Known("OK", MOVES_UP),
    "a_lower_election_id_is_a_backup_later_too": Known("OK", MOVES_UP),
    "a_primary_steps_down": Known("ALREADY_EXISTS", MOVES_UP),
    "a_primary_asks_again": Known("nothing", "no answer to an update that changes nothing"),
    "an_election_id_that_is_in_use_later": Known("nothing", "no answer to an update that changes nothing"),
    "there_has_not_been_any_primary": Known("OK", UNSET_IS_ZERO),
    "no_election_id_is_lower_than_any": Known("OK", UNSET_IS_ZERO),
    "device_zero_is_none": Known("OK", ANY_DEVICE),
    "arbitration_for_an_unknown_device": Known("OK", ANY_DEVICE),
    "a_write_to_an_unknown_device": Known("PERMISSION_DENIED", "PERMISSION_DENIED: it has no primary"),
    "a_config_for_an_unknown_device": Known("PERMISSION_DENIED", "PERMISSION_DENIED: it has no primary"),
    "a_read_of_an_unknown_device": Known("FAILED_PRECONDITION", "FAILED_PRECONDITION: it has no config"),
    "the_config_of_an_unknown_device": Known("FAILED_PRECONDITION", "FAILED_PRECONDITION: it has no config"),
    "capabilities_of_an_unknown_device": Known("OK", NOT_CHECKED),
    "the_version_is_the_newest": Known("1.3.0", "1.3.0"),
    # Table entries.
    "an_empty_match_value": Known("OK", AS_ZERO),
    "an_empty_parameter": Known("OK", AS_ZERO),
    "a_table_without_a_key_has_no_entries": Known("UNKNOWN [UNKNOWN]", NO_CODE),
    "a_full_table": Known("UNKNOWN [UNKNOWN]", NO_CODE),
    "constant_entries_cannot_be_written": Known("OK", "the flag is ignored"),
    "a_modify_without_an_action": Known(
        "UNKNOWN [INVALID_ARGUMENT]", "INVALID_ARGUMENT: MODIFY needs an action"
    ),
    "a_match_that_is_no_key_cannot_be_read": Known("INVALID_ARGUMENT", FIRST_ERROR),
    "entries_by_their_action": Known("1", FILTERS),
    "entries_by_their_metadata": Known("2", FILTERS),
    "entries_by_their_controller_metadata": Known("2", FILTERS),
    # Counters and registers.
    "other_objects_zero_cannot_be_written": Known("UNKNOWN [UNIMPLEMENTED]", "UNIMPLEMENTED for a register"),
    "counters_cannot_be_inserted": Known("OK", "DELETE is OK and sets the cell to 0"),
    "a_counter_array_is_set": Known("UNKNOWN [UNIMPLEMENTED]", "UNIMPLEMENTED"),
    "a_counter_index_that_is_none": Known("INVALID_ARGUMENT", FIRST_ERROR),
    "registers_can_be_read": Known("UNIMPLEMENTED", NO_REGISTERS),
    "registers_can_be_written": Known("UNKNOWN [UNIMPLEMENTED]", NO_REGISTERS),
    "a_register_index_that_is_none": Known("UNIMPLEMENTED", NO_REGISTERS),
    "register_data_of_another_type": Known("UNKNOWN [UNIMPLEMENTED]", NO_REGISTERS),
    # Groups.
    "metadata_of_a_group_are_returned": Known("b''", "metadata of groups are not kept"),
    "backup_replicas": Known("False", BACKUPS),
    "a_backup_with_the_replicas_port": Known("OK", BACKUPS),
    # Digests.
    "digests_are_switched_on": Known("UNIMPLEMENTED", NO_DIGEST_READ),
    "digests_are_switched_off": Known("UNIMPLEMENTED", NO_DIGEST_READ),
    "digests_without_a_timeout": Known(
        "None", "BMv2 waits for max_list_size packets or max_timeout_ns; 0 is no time-out"
    ),
    "digests_fill_a_list": Known("None", "without ack_timeout_ns a list is sent after max_timeout_ns only"),
    # Reads and Writes.
    "value_sets_that_are_not_there": Known("('UNIMPLEMENTED', [])", "UNIMPLEMENTED for both"),
    "externs_that_are_not_there": Known("('UNKNOWN', [])", "UNKNOWN for both"),
    "an_update_without_an_entity": Known("UNKNOWN [UNKNOWN]", "its error is UNKNOWN"),
    "a_read_of_an_empty_entity": Known("UNKNOWN", "UNKNOWN without details"),
    "a_read_with_a_bad_request": Known("[(33554437, b'\\x01')]", FIRST_ERROR),
    "a_read_has_an_error_per_request": Known("UNKNOWN", FIRST_ERROR),
    "a_packet_without_its_padding": Known("100", "padding may be left out"),
    "a_packet_with_metadata_twice": Known("100", "the last of the two counts"),
    # The pipeline.
    "a_config_that_is_missing": Known("OK", "an empty config is one"),
    "a_config_that_cannot_be_realized": Known(
        "OK", "VERIFY looks at the P4Info only; the others are UNKNOWN"
    ),
    "a_refused_config_changes_nothing": Known("UNKNOWN", "UNKNOWN; then entries cannot be read any more"),
    "verify_is_not_a_config": Known("UNAVAILABLE", CRASHES),
    "saving_keeps_entries": Known("[]", "VERIFY_AND_SAVE clears the tables"),
    "a_commit_of_nothing": Known("UNKNOWN", "UNKNOWN"),
    "a_commit_with_a_config": Known("OK", "the config is ignored"),
    "reconciling_keeps_the_state": Known(
        "UNKNOWN", "UNKNOWN, but done; before the first config the process ends"
    ),
    "there_is_no_config_yet": Known("('FAILED_PRECONDITION', False)", "FAILED_PRECONDITION"),
}
DEVIATIONS: dict[str, dict[str, Known]] = {"agent": AGENT, "simple_switch_grpc": SIMPLE_SWITCH_GRPC}
