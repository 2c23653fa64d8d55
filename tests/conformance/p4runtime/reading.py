# SPDX-License-Identifier: Apache-2.0
"""Section 13: Read."""

from __future__ import annotations

import itertools
import threading

from finsy.proto import p4r

from conformance.p4runtime.checks import check, wants
from conformance.p4runtime.messages import MAC, entry, forward, keys, stamp
from conformance.p4runtime.peer import OK, Lab, errors, refused
from fakes.p4runtime_messages import insert, modify

ROUNDS = 30


@check("13", "MUST", "A Read of an unknown device is NOT_FOUND.")
def a_read_of_an_unknown_device(lab: Lab) -> None:
    lab.primary()
    wants(lab.peer().read(entry(""), device_id=lab.absent_device_id)[0], "NOT_FOUND")


@check("13", "MUST", "A Read before a config has been set is FAILED_PRECONDITION.")
def a_read_before_a_config(lab: Lab) -> None:
    wants(lab.bare_primary().read(entry(""))[0], "FAILED_PRECONDITION")


@check("13", "MUST", "A Read needs neither stream nor election id.")
def a_read_needs_no_stream(lab: Lab) -> None:
    wants(lab.primary().write(insert(stamp())), OK)
    wants(keys(lab.peer().entries(entry(""))), keys([stamp()]))


@check("13", "MUST", "A Read without requests finds nothing.")
def an_empty_read(lab: Lab) -> None:
    wants(lab.primary().read(), (OK, []))


@check("13.1", "MUST", "A request that names a whole key finds one entity.")
def a_read_of_one_entity(lab: Lab) -> None:
    peer = lab.primary()
    wants(peer.write(insert(forward(1)), insert(forward(2))), OK)
    wants(peer.entries(entry("l2_forward", 2)) == [forward(2)], True)


@check("13.2", "MUST", "A request without an entity is INVALID_ARGUMENT.")
def a_read_of_an_empty_entity(lab: Lab) -> None:
    wants(lab.primary().read(p4r.Entity())[0], refused("INVALID_ARGUMENT"), "INVALID_ARGUMENT")


@check("13.2", "MUST", "A reply has all entities, however many there are.")
def a_long_reply(lab: Lab) -> None:
    peer = lab.primary()
    wants(peer.write(*(insert(forward(each)) for each in range(1, 3001))), OK)
    wants(len(peer.entries(entry("l2_forward"))), 3000)


@check("13.3", "MUST", "Each request of a batch is answered, also if it is there twice.")
def a_read_of_several(lab: Lab) -> None:
    peer = lab.primary()
    wants(peer.write(insert(stamp()), insert(forward())), OK)
    found = peer.entries(entry("stamp_port"))
    wants(found == [stamp()], True)
    both = keys(peer.read(entry("stamp_port"), entry("l2_forward"))[1])
    wants(both, keys([stamp(), forward()]))


@check("13.3", "MUST", "Valid requests are answered although others are not; the call ends with UNKNOWN.")
def a_read_with_a_bad_request(lab: Lab) -> None:
    peer = lab.primary()
    wants(peer.write(insert(stamp()), insert(forward())), OK)
    result, found = peer.read(entry("stamp_port"), p4r.Entity(), entry("l2_forward"))
    wants(result.partition(" ")[0], "UNKNOWN")
    wants(keys(found), keys([stamp(), forward()]))


@check("13.3", "MUST", "It has an error per request, at the request's place.")
def a_read_has_an_error_per_request(lab: Lab) -> None:
    peer = lab.primary()
    wants(
        peer.read(entry("stamp_port"), p4r.Entity(), entry("l2_forward"))[0],
        refused("OK", "INVALID_ARGUMENT", "OK"),
    )
    assert peer.error is not None
    wants(errors(peer.error)[0] == p4r.Error(), True)


@check("13.3", "MUST", "Reads of several clients at the same time are answered.")
def reads_at_the_same_time(lab: Lab) -> None:
    wants(lab.primary().write(insert(stamp())), OK)
    found: list[object] = []
    peers = [lab.peer() for _ in range(8)]
    threads = [
        threading.Thread(target=lambda peer=peer: found.append(keys(peer.entries(entry("")))))
        for peer in peers
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    wants(found, [keys([stamp()])] * len(peers))


@check("13.4", "MUST", "A Read sees a Write as a whole or not at all.")
def a_read_sees_whole_writes(lab: Lab) -> None:
    writer, reader = lab.primary(), lab.peer()
    addresses = range(MAC, MAC + 20)
    wants(writer.write(*(insert(forward(each, 1)) for each in addresses)), OK)
    results: list[str] = []

    def write() -> None:
        for port in itertools.islice(itertools.cycle((2, 1)), ROUNDS):
            results.append(writer.write(*(modify(forward(each, port)) for each in addresses)))

    thread = threading.Thread(target=write)
    thread.start()
    mixed = 0
    while thread.is_alive():
        ports = {
            each.table_entry.action.action.params[0].value for each in reader.entries(entry("l2_forward"))
        }
        mixed += len(ports) != 1
    thread.join()
    wants((set(results), mixed > 0), ({OK}, False))
