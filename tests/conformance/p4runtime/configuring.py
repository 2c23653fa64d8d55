# SPDX-License-Identifier: Apache-2.0
"""Sections 14 and 15: the forwarding-pipeline config is set and read."""

from __future__ import annotations

from finsy.proto import p4r

from conformance.p4runtime.checks import check, wants
from conformance.p4runtime.messages import entry, forward, group, keys, stamp
from conformance.p4runtime.peer import COOKIE, OK, Lab, Set
from fakes.p4runtime_messages import counter, digest, insert, p4info

Get = p4r.GetForwardingPipelineConfigRequest
INVALID = "INVALID_ARGUMENT"
WITH_CONFIG = (Set.VERIFY, Set.VERIFY_AND_SAVE, Set.VERIFY_AND_COMMIT)


def unrealizable() -> p4r.ForwardingPipelineConfig:
    """A config that is for no target: half of the program, and a binary that is none."""
    made = p4r.ForwardingPipelineConfig(p4info=p4info(), p4_device_config=b"\0none")
    del made.p4info.tables[0]
    return made


@check("14", "MUST", "A config for an unknown device is NOT_FOUND.")
def a_config_for_an_unknown_device(lab: Lab) -> None:
    wants(lab.bare_primary().set_pipeline(device_id=lab.absent_device_id), "NOT_FOUND")


@check("14", "MUST", "A config with an unknown role is NOT_FOUND.")
def a_config_with_an_unknown_role(lab: Lab) -> None:
    wants(lab.bare_primary().set_pipeline(role="nobody"), "NOT_FOUND")


@check("14", "MUST", "A config that is not the primary's is PERMISSION_DENIED.")
def a_config_of_another_than_the_primary(lab: Lab) -> None:
    wants(lab.bare_primary(5).set_pipeline(election_id=4), "PERMISSION_DENIED")


@check("14", "MUST", "VERIFY, VERIFY_AND_SAVE and VERIFY_AND_COMMIT need a config: INVALID_ARGUMENT.")
def a_config_that_is_missing(lab: Lab) -> None:
    peer = lab.bare_primary()
    for action in WITH_CONFIG:
        wants(peer.set_pipeline(action, config=None), INVALID)


@check("14", "MUST", "A config that cannot be realized is INVALID_ARGUMENT.")
def a_config_that_cannot_be_realized(lab: Lab) -> None:
    peer = lab.bare_primary()
    for action in WITH_CONFIG:
        wants(peer.set_pipeline(action, config=unrealizable()), INVALID)


@check("14", "MUST", "A refused config changes nothing.")
def a_refused_config_changes_nothing(lab: Lab) -> None:
    peer = lab.primary()
    wants(peer.write(insert(stamp())), OK)
    wants(peer.set_pipeline(config=unrealizable()), INVALID)
    wants(keys(peer.entries(entry(""))), keys([stamp()]))
    wants(peer.get_pipeline()[1].config.cookie.cookie, COOKIE)


@check("14", "MUST", "An action that is unspecified is INVALID_ARGUMENT.")
def an_unspecified_action(lab: Lab) -> None:
    wants(lab.bare_primary().set_pipeline(Set.UNSPECIFIED), INVALID)


@check("14", "MUST", "VERIFY changes neither config nor entries.")
def verify_changes_nothing(lab: Lab) -> None:
    peer = lab.primary()
    wants(peer.write(insert(stamp())), OK)
    wants(peer.set_pipeline(Set.VERIFY, cookie=8), OK)
    wants(keys(peer.entries(entry(""))), keys([stamp()]))
    wants(peer.get_pipeline()[1].config.cookie.cookie, COOKIE)


@check("14", "MUST", "VERIFY alone is not a config.")
def verify_is_not_a_config(lab: Lab) -> None:
    peer = lab.bare_primary()
    wants(peer.set_pipeline(Set.VERIFY), OK)
    wants(peer.write(insert(stamp())), "FAILED_PRECONDITION")


@check("14", "MUST", "VERIFY_AND_SAVE does not modify the forwarding state.")
def saving_keeps_entries(lab: Lab) -> None:
    peer = lab.primary()
    wants(peer.write(insert(stamp())), OK)
    wants(peer.set_pipeline(Set.VERIFY_AND_SAVE, cookie=8), OK)
    wants(keys(peer.entries(entry(""))), keys([stamp()]))


@check("14", "MUST", "COMMIT realizes the config that was saved.")
def a_saved_config_is_committed(lab: Lab) -> None:
    peer = lab.primary()
    wants(peer.set_pipeline(Set.VERIFY_AND_SAVE, cookie=8), OK)
    wants(peer.set_pipeline(Set.COMMIT, config=None), OK)
    wants(peer.get_pipeline()[1].config.cookie.cookie, 8)
    wants(peer.write(insert(stamp())), OK)


@check("14", "MUST", "COMMIT without a config that was saved is NOT_FOUND.")
def a_commit_of_nothing(lab: Lab) -> None:
    wants(lab.primary().set_pipeline(Set.COMMIT, config=None), "NOT_FOUND")


@check("14", "MUST", "COMMIT with a config is INVALID_ARGUMENT.")
def a_commit_with_a_config(lab: Lab) -> None:
    peer = lab.primary()
    wants(peer.set_pipeline(Set.VERIFY_AND_SAVE), OK)
    wants(peer.set_pipeline(Set.COMMIT), INVALID)


@check("14", "MUST", "VERIFY_AND_COMMIT clears the forwarding state.")
def committing_clears_the_state(lab: Lab) -> None:
    peer = lab.primary()
    wants(peer.write(insert(stamp()), insert(forward()), insert(group(1, (257, 1)))), OK)
    wants(peer.write(insert(digest("queue_drop_t"))), OK)
    wants(peer.set_pipeline(Set.VERIFY_AND_COMMIT), OK)
    wants(peer.entries(entry("")), [])
    wants(peer.entries(group(0)), [])
    wants(peer.write(insert(digest("queue_drop_t"))), OK)  # it is off again
    packets = [each.counter_entry.data.packet_count for each in peer.entries(counter("tx"))]
    wants(set(packets), {0})


@check("14", "MAY", "RECONCILE_AND_COMMIT preserves the forwarding state, or is UNIMPLEMENTED.")
def reconciling_keeps_the_state(lab: Lab) -> None:
    peer = lab.primary()
    wants(peer.write(insert(stamp())), OK)
    result = peer.set_pipeline(Set.RECONCILE_AND_COMMIT, cookie=8)
    wants(result, OK, "UNIMPLEMENTED")
    wants(keys(peer.entries(entry(""))), keys([stamp()]))
    wants(peer.get_pipeline()[1].config.cookie.cookie, 8 if result == OK else COOKIE)


@check("15", "MUST", "The config of an unknown device is NOT_FOUND.")
def the_config_of_an_unknown_device(lab: Lab) -> None:
    lab.primary()
    wants(lab.peer().get_pipeline(device_id=lab.absent_device_id)[0], "NOT_FOUND")


@check("15", "MUST", "As long as no config is known, the reply has none.")
def there_is_no_config_yet(lab: Lab) -> None:
    result, reply = lab.peer().get_pipeline()
    wants((result, reply.HasField("config")), (OK, False))


@check("15", "MUST", "ALL has all fields as they were set.")
def the_config_is_read_as_it_was_set(lab: Lab) -> None:
    peer = lab.primary()
    config = peer.get_pipeline(Get.ALL)[1].config
    wants(config.p4info == p4info(), True)
    wants(config.cookie.cookie, COOKIE)
    wants(config.p4_device_config in (b"", peer.config().p4_device_config), True)


@check("15", "MUST", "COOKIE_ONLY has the cookie only.")
def the_cookie_only(lab: Lab) -> None:
    config = lab.primary().get_pipeline(Get.COOKIE_ONLY)[1].config
    wants((config.cookie.cookie, config.HasField("p4info"), config.p4_device_config), (COOKIE, False, b""))


@check("15", "MUST", "P4INFO_AND_COOKIE has these two.")
def p4info_and_cookie(lab: Lab) -> None:
    config = lab.primary().get_pipeline(Get.P4INFO_AND_COOKIE)[1].config
    wants((config.cookie.cookie, config.HasField("p4info"), config.p4_device_config), (COOKIE, True, b""))


@check("15", "MUST", "DEVICE_CONFIG_AND_COOKIE has these two, or the cookie only.")
def device_config_and_cookie(lab: Lab) -> None:
    config = lab.primary().get_pipeline(Get.DEVICE_CONFIG_AND_COOKIE)[1].config
    wants((config.cookie.cookie, config.HasField("p4info")), (COOKIE, False))


@check("15", "MUST", "A config that was set without a cookie has none.")
def a_config_without_a_cookie(lab: Lab) -> None:
    peer = lab.bare_primary()
    wants(peer.set_pipeline(cookie=None), OK)
    wants(peer.get_pipeline()[1].config.HasField("cookie"), False)
