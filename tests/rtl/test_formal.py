# SPDX-License-Identifier: Apache-2.0
"""Properties of the modules of hls/rtl, proved; and faults planted in those modules, which break them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from rtl.formal import PROPERTIES, SHELL, Proof, judge, refutes, stand_in
from rtl.simulation import needs

pytestmark = [needs("yosys", "yosys"), needs("yosys-abc", "yosys")]

STREAM = ("stream_properties",)
RAM = ("ram",)
LUT_RAM: dict[str, int | str] = {"STYLE": "distributed", "SHOWN_AFTER": 1}

SKID = Proof("skid", beside=STREAM)
FIFO = Proof("fifo", {"DEPTH": 2}, RAM, STREAM)
FIFO_IN_LUTS = Proof("fifo", {**LUT_RAM, "DEPTH": 4, "CAPACITY": 4}, RAM, STREAM)
RAM_1, RAM_2, RAM_3 = (Proof("ram", {"READ_LATENCY": latency}) for latency in (1, 2, 3))
PIPE_0, PIPE_1, PIPE = (Proof("pipe", {"LATENCY": latency}) for latency in (0, 1, 6))
CREDIT = Proof("credit", {"CREDITS": 5})
COUNTER = Proof("counter", {"WIDTH": 5, "STEP_BITS": 2})
BUCKETS = Proof("bucket_memory", {"BUCKETS": 2, "READ_LATENCY": 2}, RAM)
BUCKETS_4 = Proof("bucket_memory", {"BUCKETS": 4, "READ_LATENCY": 2}, RAM)
INTAKE = Proof(
    "intake",
    parts=("credit", "pipe"),
    functions=("lanes",),
    sizes={"FRAME_MAX_BYTES": 192, "FRAME_MAX_BEATS": 3},
)
RELEASE = Proof("release", parts=("skid",))
DEPARTURES = Proof(
    "egress_departures",
    parts=("fifo", "ram", "pipe"),
    functions=("patch",),
    passes={"patch": ("granted", "enable")},
    sizes={"DEPARTURES": 2},
)
GRANT = Proof(
    "egress_grant",
    parts=("fifo", "ram", "pipe", "credit", "state"),
    functions=("offer", "grant", "own"),
    passes={"offer": ("length", "reply")},
    sizes={"DEPARTURES": 2, "OFFER_LATENCY": 3},
)
QUEUE = Proof("egress_queue", parts=("bucket_memory", "fifo", "ram", "pipe"), functions=("number",))
EGRESS_STAGE = Proof("egress_stage")
INGRESS_STAGE = Proof(
    "ingress_stage",
    parts=("bucket_memory", "counter", "credit", "pipe", "ram"),
    functions=("judge", "patch"),
)

PROOFS = [
    SKID,
    FIFO,
    Proof("fifo", {"DEPTH": 4, "CAPACITY": 8}, RAM, STREAM),
    FIFO_IN_LUTS,
    Proof("fifo", {**LUT_RAM, "DEPTH": 2, "CAPACITY": 2}, RAM, STREAM),
    *(RAM_1, RAM_2, RAM_3),
    *(PIPE_0, PIPE_1, PIPE),
    *(Proof("pipe", {"LATENCY": latency}) for latency in (2, 3, 4)),
    *(CREDIT, Proof("credit", {"CREDITS": 1}), Proof("credit", {"CREDITS": 4})),
    *(COUNTER, Proof("counter", {"WIDTH": 3, "STEP_BITS": 3})),
    *(BUCKETS, BUCKETS_4),
    *(Proof("bucket_memory", {"BUCKETS": 2, "READ_LATENCY": latency}, RAM) for latency in (1, 3)),
    INTAKE,
    RELEASE,
    DEPARTURES,
    GRANT,
    QUEUE,
    EGRESS_STAGE,
    INGRESS_STAGE,
]


@pytest.mark.slow
@pytest.mark.parametrize("proof", PROOFS, ids=str)
def test_all_properties_hold(proof: Proof, tmp_path: Path) -> None:
    verdict = judge(proof, tmp_path)
    reached = re.findall(r"(reaches_\w+) : assert\b", proof.properties.read_text())
    assert not verdict.broken
    assert {name for name in reached if name not in verdict.refuted} == set()
    assert verdict.proved


@dataclass(frozen=True)
class Fault:
    """A piece of text that occurs once, what it becomes, and a property that then no longer holds."""

    proof: Proof
    name: str
    old: str
    new: str
    refuted: str
    in_properties: bool = False  # in what stands for the user of the module, not in the module

    def __str__(self) -> str:
        return f"{self.proof.name}-{self.name}"


FAULTS = [
    Fault(SKID, "never-stops", "ready_q <= 1'b0;", "ready_q <= 1'b1;", "overflow"),
    Fault(
        SKID,
        "stops-early",
        "ready_q <= 1'b1;\n      valid_q <= valid_i",
        "ready_q <= !valid_i;\n      valid_q <= valid_i",
        "room",
    ),
    Fault(SKID, "spare-is-lost", "valid_i || !ready_q;", "valid_i;", "flow"),
    Fault(SKID, "shows-nothing", "valid_i || !ready_q;", "1'b1;", "underflow"),
    Fault(SKID, "spare-is-not-used", "if (moves && !ready_q)", "if (moves && ready_q)", "order"),
    Fault(SKID, "overwrites", "else if (moves && valid_i)", "else if (valid_i)", "stable"),
    Fault(SKID, "valid-after-reset", "valid_q <= 1'b0;", "", "empty_after_reset"),
    Fault(
        SKID,
        "stopped-after-reset",
        "ready_q <= 1'b1;\n      valid_q <= 1'b0;",
        "valid_q <= 1'b0;",
        "empty_after_reset",
    ),
    Fault(FIFO, "never-stops", "ready_o = !used_q[BITS];", "ready_o = 1'b1;", "overflow"),
    Fault(
        FIFO,
        "takes-one-more",
        "ready_o = !used_q[BITS];",
        "ready_o = !used_q[BITS] || ready_i;",
        "memory_overflow",
    ),
    Fault(FIFO, "stops-early", "ready_o = !used_q[BITS];", "ready_o = used_q == '0;", "room"),
    Fault(FIFO, "ring-is-not-reset", "tail_q <= '0;", "", "memory_ring"),
    Fault(FIFO, "place-is-freed-twice", "if (leaves && !take) ahead_q", "if (leaves) ahead_q", "ahead_count"),
    Fault(FIFO, "fetches-without-a-place", "used_q != '0 && !ahead_q[2];", "used_q != '0;", "ahead_overflow"),
    Fault(FIFO, "fetches-too-few", "!ahead_q[2];", "ahead_q < 3'd3;", "flow"),
    Fault(
        FIFO,
        "skips-a-waiting-word",
        "valid_q <= waits || fetched_q[1];",
        "valid_q <= fetched_q[1];",
        "waits_behind_a_word",
    ),
    Fault(
        FIFO,
        "shows-a-word-twice",
        "valid_q <= waits || fetched_q[1];",
        "valid_q <= waits || fetched_q[1] || valid_q;",
        "underflow",
    ),
    Fault(FIFO, "overtakes", "(waits || !moves)) last_q", "!moves) last_q", "order"),
    Fault(FIFO, "reads-the-wrong-place", "data_q <= places[first_q]", "data_q <= places[last_q]", "order"),
    Fault(FIFO, "memory-is-early", ".READ_LATENCY(2)", ".READ_LATENCY(1)", "order"),
    Fault(FIFO, "overwrites", "if (moves && waits) data_q", "if (waits) data_q", "stable"),
    Fault(FIFO, "valid-after-reset", "        valid_q <= 1'b0;\n", "", "empty_after_reset"),
    Fault(FIFO, "full-after-reset", "      used_q <= '0;\n", "", "empty_after_reset"),
    Fault(FIFO, "comes-in-after-reset", "        fetched_q <= '0;\n", "", "ahead_count"),
    Fault(FIFO, "count-in-memory-only", " + (BITS + 2)'(ahead_q);", ";", "count_is_exact"),
    Fault(FIFO_IN_LUTS, "luts-reads-the-newest", "words[head_q];", "words[tail_q];", "order"),
    Fault(FIFO_IN_LUTS, "luts-valid-when-empty", "valid_o = used_q != '0;", "valid_o = 1'b1;", "underflow"),
    Fault(FIFO_IN_LUTS, "luts-keeps-the-last", "valid_o = used_q != '0;", "valid_o = used_q > 1;", "flow"),
    Fault(
        FIFO_IN_LUTS,
        "luts-count-of-the-next-clock",
        "{1'b0, used_q};",
        "{1'b0, used_q} + (BITS + 2)'(put);",
        "count_is_exact",
    ),
    Fault(FIFO_IN_LUTS, "luts-drops-when-full", "if (put) tail_q", "if (valid_i) tail_q", "memory_ring"),
    Fault(
        RAM_1,
        "shows-the-new-word",
        "first_q <= words[read_address_i];",
        "first_q <= write_i && write_address_i == read_address_i ? write_data_i : words[read_address_i];",
        "word",
    ),
    Fault(RAM_1, "not-zero-at-power-on", "words[i] = '0;", "words[i] = '1;", "word"),
    Fault(RAM_2, "early", "assign read_data_o = second_q;", "assign read_data_o = first_q;", "word"),
    Fault(RAM_3, "early-too", "assign read_data_o = third_q;", "assign read_data_o = second_q;", "word"),
    Fault(PIPE, "early", "valid_o = valid_q[LATENCY-1];", "valid_o = valid_q[LATENCY-2];", "when"),
    Fault(PIPE, "reset-forgets-nothing", "valid_q <= '0;", "", "when"),
    Fault(PIPE_1, "of-one-reset-forgets-nothing", "valid_i && rst_ni;", "valid_i;", "when"),
    Fault(PIPE, "short-ring", "BITS'(PLACES - 1)", "BITS'(PLACES - 2)", "what"),
    Fault(PIPE, "word-is-fetched-late", "if (valid_q[PLACES-1])", "if (valid_q[LATENCY-1])", "what"),
    Fault(PIPE, "long-ring", "at_q == BITS'(PLACES - 1) ? '0 : at_q + 1'b1;", "at_q + 1'b1;", "at_place"),
    Fault(PIPE_0, "wires-need-a-reset", "valid_o = valid_i;", "valid_o = valid_i && rst_ni;", "when"),
    Fault(CREDIT, "one-more", "available_o = left_q != '0;", "available_o = 1'b1;", "range"),
    Fault(
        CREDIT,
        "keeps-one-back",
        "available_o = left_q != '0;",
        "available_o = left_q > 1;",
        "available_is_exact",
    ),
    Fault(
        CREDIT,
        "idle-too-early",
        "idle_o = left_q == BITS'(CREDITS);",
        "idle_o = left_q >= BITS'(CREDITS - 1);",
        "credit_overflow",
    ),
    Fault(CREDIT, "never-idle", "idle_o = left_q == BITS'(CREDITS);", "idle_o = 1'b0;", "idle_is_exact"),
    Fault(CREDIT, "together-takes", "if (take_i && !give_i)", "if (take_i)", "available_is_exact"),
    Fault(
        CREDIT,
        "too-many-after-reset",
        "if (!rst_ni) left_q <= BITS'(CREDITS);",
        "if (!rst_ni) left_q <= BITS'(CREDITS + 1);",
        "credit_range",
    ),
    Fault(
        CREDIT,
        "user-does-not-ask",
        "takes_what_is_available : assume (available);",
        "takes_what_is_available : assume (1'b1);",
        "credit_underflow",
        in_properties=True,
    ),
    Fault(
        CREDIT,
        "user-gives-what-it-has-not",
        "gives_what_it_took : assume (out_q != 4'd0);",
        "gives_what_it_took : assume (1'b1);",
        "credit_overflow",
        in_properties=True,
    ),
    Fault(COUNTER, "wraps", "carry ? '1 : sum;", "sum;", "never_wraps"),
    Fault(COUNTER, "stops-below", "carry ? '1 : sum;", "carry ? value_q : sum;", "saturated"),
    Fault(
        COUNTER,
        "clear-loses-an-event",
        "step = WIDTH'(add_i);",
        "step = clear_i ? '0 : WIDTH'(add_i);",
        "sum",
    ),
    Fault(COUNTER, "no-reset", "if (!rst_ni) value_q <= '0;", "", "sum"),
    Fault(
        BUCKETS,
        "misses-the-packet-before",
        "passes_by = meets_q[SHOWS] && write_i;",
        "passes_by = 1'b0;",
        "what",
    ),
    Fault(
        BUCKETS, "misses-the-second-before", "taken_q[s] || (meets_q[s] && write_i);", "taken_q[s];", "what"
    ),
    Fault(
        BUCKETS,
        "misses-the-oldest",
        "taken_q[1] <= writes && looks_up_written;",
        "taken_q[1] <= 1'b0;",
        "what",
    ),
    Fault(
        BUCKETS,
        "older-wins",
        "if (meets_q[s] && write_i) slot_q",
        "if (meets_q[s] && write_i && !taken_q[s]) slot_q",
        "what",
    ),
    Fault(
        BUCKETS,
        "older-wins-at-the-exit",
        "passes_by = meets_q[SHOWS] && write_i;",
        "passes_by = meets_q[SHOWS] && write_i && !taken_q[SHOWS];",
        "what",
    ),
    Fault(
        BUCKETS,
        "takes-what-is-not-written",
        "taken_q[1] <= writes && looks_up_written;",
        "taken_q[1] <= valid_q[WRITES] && looks_up_written;",
        "what",
    ),
    Fault(
        BUCKETS,
        "takes-from-another-bucket",
        "taken_q[1] <= writes && looks_up_written;",
        "taken_q[1] <= writes;",
        "what",
    ),
    Fault(
        BUCKETS,
        "writes-without-a-packet",
        "writes = write_i && valid_q[WRITES];",
        "writes = write_i;",
        "what",
    ),
    Fault(BUCKETS, "meets-no-packet", "meets_q[1] <= valid_q[SHOWS] && ", "meets_q[1] <= ", "what"),
    Fault(BUCKETS, "writes-in-a-reset", ".write_i(writes && rst_ni)", ".write_i(writes)", "what"),
    Fault(
        BUCKETS,
        "writes-the-bucket-of-the-next",
        ".write_address_i(bucket_q[WRITES]",
        ".write_address_i(bucket_q[SHOWS]",
        "what",
    ),
    Fault(BUCKETS, "reset-forgets-nothing", "if (!rst_ni) valid_q <= '0;", "", "when"),
    Fault(BUCKETS, "early", "slot_valid_o = valid_q[SHOWS];", "slot_valid_o = valid_q[WRITES];", "when"),
    Fault(
        BUCKETS,
        "names-the-packet-before",
        "slot_bucket_o = bucket_q[SHOWS];",
        "slot_bucket_o = bucket_q[WRITES];",
        "whose",
    ),
    Fault(
        BUCKETS_4,
        "compares-one-bit",
        "look_bucket_i[BITS-1:0] == bucket_q[WRITES][BITS-1:0];",
        "look_bucket_i[0] == bucket_q[WRITES][0];",
        "what",
    ),
    Fault(
        INTAKE, "holds-the-sender", "taking_q <= rst_ni;", "taking_q <= rst_ni && beat_ready_i;", "never_held"
    ),
    Fault(
        INTAKE,
        "announces-without-a-place",
        "wire announces = ends && (told || free);",
        "wire announces = ends;",
        "places_are_enough",
    ),
    Fault(
        INTAKE,
        "announces-what-did-not-come",
        "wire ends = valid && last;",
        "wire ends = last;",
        "announces_a_frame",
    ),
    Fault(
        INTAKE, "untold-is-kept", "announces ? 16'd0 : untold_q == '1", "untold_q == '1", "untold_is_exact"
    ),
    Fault(
        INTAKE,
        "untold-though-there-is-a-place",
        "ends && (told || free);",
        "ends && told && beat_ready_i;",
        "untold_for_want_of_a_place",
    ),
    Fault(
        INTAKE,
        "stores-without-a-place",
        "(first ? free : whole_q)",
        "(first || whole_q)",
        "untold_is_not_stored",
    ),
    Fault(
        INTAKE,
        "counts-on",
        "(first ? 8'd0 : stored_q) + 8'(stores)",
        "stored_q + 8'(stores)",
        "stored_is_exact",
    ),
    Fault(
        INTAKE,
        "whole-without-its-last-beat",
        "arrival_o.whole <= stores;",
        "arrival_o.whole <= fits;",
        "whole_is_exact",
    ),
    Fault(INTAKE, "long-is-not-seen", "errored <= gaps || long ||", "errored <= gaps ||", "too_long"),
    Fault(
        INTAKE,
        "stores-what-did-not-come",
        "beat_valid_o = valid && fits;",
        "beat_valid_o = fits;",
        "stores_a_beat",
    ),
    Fault(INTAKE, "goes-on-behind-a-gap", "whole_q <= stores;", "whole_q <= fits;", "stores_without_gaps"),
    Fault(
        INTAKE,
        "waits-for-memory",
        "(first ? free : whole_q)",
        "(first ? free && beat_ready_i : whole_q)",
        "stores_if_there_is_a_place",
    ),
    Fault(
        RELEASE,
        "frame-after-reset",
        "{near_valid_q, far_valid_q, frame_valid_q} <= 3'b0;",
        "{near_valid_q, far_valid_q} <= 2'b0;",
        "empty_after_reset",
    ),
    Fault(
        RELEASE, "takes-for-none", "beat_ready_o = frame_valid_q && ", "beat_ready_o = ", "takes_for_a_frame"
    ),
    Fault(
        RELEASE,
        "loses-the-frame-behind",
        "frame_valid_q <= far_valid_q;",
        "frame_valid_q <= far_valid_q && !ends;",
        "flow",
    ),
    Fault(RELEASE, "sends-discarded", "goes && frame_q.send)", "goes)", "shows_what_was_taken"),
    Fault(RELEASE, "loses-the-side-band", "last, beat_i.user, keep", "last, 48'd0, keep", "order"),
    Fault(
        RELEASE,
        "last-is-early",
        "wire last = frame_q.left == 8'd1;",
        "wire last = frame_q.left <= 8'd2;",
        "last_of_a_frame",
    ),
    Fault(RELEASE, "length-of-the-next", "{frame_q.length, last,", "{far_q.length, last,", "length"),
    Fault(RELEASE, "keeps-the-wrong-end", "~(64'hffff", "(64'hffff", "keep_from_the_first"),
    Fault(RELEASE, "cuts-every-beat", "keep = last && ", "keep = ", "keep_to_the_last"),
    Fault(
        RELEASE,
        "sent-before-it-is-taken",
        "m_axis_tvalid && m_axis_tready && m_axis_tlast;",
        "m_axis_tvalid && m_axis_tlast;",
        "sent_with_the_last",
    ),
    Fault(RELEASE, "does-not-wait", ".ready_i(m_axis_tready),", ".ready_i(1'b1),", "stable"),
    Fault(
        QUEUE,
        "frame-after-reset",
        ".rst_ni,\n      .valid_i(stands_valid_q),",
        ".rst_ni(1'b1),\n      .valid_i(stands_valid_q),",
        "empty_after_reset",
    ),
    Fault(QUEUE, "stands-without-a-beat", "read_valid && read.stored != 0;", "read_valid;", "stands_once"),
    Fault(
        QUEUE,
        "stands-twice",
        "stands_valid_q <= rst_ni && read_valid",
        "stands_valid_q <= rst_ni && (read_valid || stands_valid_q)",
        "stands_once",
    ),
    Fault(
        QUEUE,
        "loses-the-one-behind",
        "read_valid && read.stored",
        "read_valid && !stands_valid_q && read.stored",
        "flow",
    ),
    Fault(QUEUE, "takes-the-next", "stands_q <= read;", "stands_q <= joins_waiting_i;", "order"),
    Fault(QUEUE, "does-not-wait", ".ready_i(waiting_ready_i),", ".ready_i(1'b1),", "stable"),
    Fault(
        QUEUE,
        "user-has-no-beat",
        "has_a_beat : assume (32'(words_q) < QUEUE_BEATS + 32'd4);",
        "has_a_beat : assume (1'b1);",
        "room_for_each_frame",
        in_properties=True,
    ),
    Fault(
        DEPARTURES,
        "release-after-reset",
        ".rst_ni,\n      .valid_i(patched_valid),",
        ".rst_ni(1'b1),\n      .valid_i(patched_valid),",
        "empty_after_reset",
    ),
    Fault(DEPARTURES, "releases-again", ".ready_i(joins),", ".ready_i(granted_ready_o),", "releases_no_more"),
    Fault(
        DEPARTURES,
        "takes-for-none",
        "joins && head.regulated;",
        "granted_valid_i && head.regulated;",
        "takes_no_more_grants",
    ),
    Fault(
        DEPARTURES,
        "all-wait-for-a-grant",
        "(!head.regulated || granted_valid_i);",
        "granted_valid_i;",
        "flow",
    ),
    Fault(
        DEPARTURES,
        "mixes-frames",
        "release_in.send = patched_head.send;",
        "release_in.send = head.send;",
        "order",
    ),
    Fault(
        DEPARTURES,
        "does-not-wait-for-a-grant",
        " && (!head.regulated || granted_valid_i);",
        ";",
        "granted_before",
    ),
    Fault(
        DEPARTURES,
        "loses-the-grant",
        "asked.granted = granted_i;",
        "asked.granted = head.requested;",
        "granted_its",
    ),
    Fault(DEPARTURES, "does-not-wait", ".ready_i(release_ready_i),", ".ready_i(1'b1),", "stable"),
    Fault(
        DEPARTURES,
        "user-sends-too-many",
        "there_is_a_place : assume (32'(words_q) < clarion_sizes_pkg::DEPARTURES);",
        "there_is_a_place : assume (1'b1);",
        "flow",
        in_properties=True,
    ),
    Fault(
        GRANT,
        "grant-after-reset",
        ".rst_ni,\n      .valid_i(answer_valid),",
        ".rst_ni(1'b1),\n      .valid_i(answer_valid),",
        "empty_after_reset",
    ),
    Fault(
        GRANT, "grants-to-none", "settled = head_valid && !busy_q;", "settled = !busy_q;", "grants_no_more"
    ),
    Fault(GRANT, "offers-for-ever", "redone_q <= 1'b1;", "redone_q <= 1'b0;", "flow"),
    Fault(GRANT, "answer-of-the-next", ": answer_reply}", ": last_offer.reply}", "order"),
    Fault(GRANT, "does-not-wait", ".ready_i(granted_ready_i),", ".ready_i(1'b1),", "stable"),
    Fault(
        GRANT,
        "idle-with-an-offer",
        ".give_i(answer_valid),",
        ".give_i(offered_valid && !offered_asking.again),",
        "idle_when_all_are_granted",
    ),
    Fault(GRANT, "idle-twice", ".give_i(answer_valid),", ".give_i(offered_valid),", "stays_idle"),
    Fault(GRANT, "grants-in-each-clock", "busy_q <= grants;", "busy_q <= 1'b0;", "interval_is_kept"),
    Fault(
        GRANT,
        "user-sends-too-many",
        "there_is_a_place : assume (32'(words_q) < clarion_sizes_pkg::DEPARTURES);",
        "there_is_a_place : assume (1'b1);",
        "flow",
        in_properties=True,
    ),
    Fault(
        EGRESS_STAGE, "runs-after-reset", "state_q <= PREPARES;\n      wait_q", "wait_q", "empty_after_reset"
    ),
    Fault(
        EGRESS_STAGE,
        "takes-what-is-not-there",
        "packet_ready_o = decides;",
        "packet_ready_o = runs;",
        "taken_as_it_joins",
    ),
    Fault(
        EGRESS_STAGE,
        "drops-and-discards",
        "drops_o = decides && !errored && !fits;",
        "drops_o = decides && !fits;",
        "one_of_three",
    ),
    Fault(
        EGRESS_STAGE,
        "leaves-without-a-place",
        "waiting_valid_i && place_i;",
        "waiting_valid_i;",
        "leaves_to_a_place",
    ),
    Fault(
        EGRESS_STAGE,
        "regulates-dropped",
        "goes = leaves && waiting_i.send;",
        "goes = leaves;",
        "leaves_to_be_counted",
    ),
    Fault(EGRESS_STAGE, "runs-always", "runs = state_q == RUNS && !stops;", "runs = !stops;", "rests"),
    Fault(EGRESS_STAGE, "one-more-in-the-interval", "stops = ended_i || ", "stops = ", "rests_until_done"),
    Fault(
        EGRESS_STAGE, "held-at-once", "wait_q == 0 && grants_idle_i;", "grants_idle_i;", "settled_when_held"
    ),
    Fault(
        EGRESS_STAGE,
        "starts-between-grants",
        "wait_q == 0 && grants_idle_i;",
        "wait_q == 0;",
        "settled_at_a_start",
    ),
    Fault(
        EGRESS_STAGE,
        "waits-half-as-long",
        "wait_q == 0 && grants_idle_i;",
        "wait_q < 8 && grants_idle_i;",
        "settled_at_the_end",
    ),
    Fault(
        EGRESS_STAGE,
        "asks-in-each-clock",
        "state_q == CONTROLS && !controls_q;",
        "state_q == CONTROLS;",
        "asks_once",
    ),
    Fault(
        EGRESS_STAGE,
        "starts-with-an-interval",
        "restarts = settled && begins_q;",
        "restarts = state_q == CONTROLS;",
        "not_both",
    ),
    Fault(
        EGRESS_STAGE,
        "starts-behind-the-packet",
        "(begins && packet_valid_i && !errored);",
        "(begins && !packet_valid_i);",
        "started_before",
    ),
    Fault(
        EGRESS_STAGE,
        "counts-dropped",
        "joins_whole ? with_it[23:0]",
        "decides ? with_it[23:0]",
        "queue_is_what_joined",
    ),
    Fault(
        EGRESS_STAGE,
        "limit-without-the-packet",
        "40'(with_it) <= config_i",
        "40'(held_bytes) <= config_i",
        "within_the_limit",
    ),
    Fault(EGRESS_STAGE, "starts-for-ever", "{1'b1, config_i.epoch};", "{1'b1, 8'd0};", "goes_on"),
    Fault(EGRESS_STAGE, "holds-never-again", "if (packet_ready_o) restarted_q <= 1'b0;", "", "goes_on"),
    Fault(
        INGRESS_STAGE,
        "takes-without-a-place",
        "packet_valid_i && place;",
        "packet_valid_i;",
        "places_are_enough",
    ),
    Fault(
        INGRESS_STAGE,
        "releases-what-was-not-stored",
        " && judged_packet.frame.stored != 0",
        "",
        "released_when_it_was_stored",
    ),
    Fault(
        INGRESS_STAGE,
        "sends-errored",
        "released.frame.whole && !released.frame.errored",
        "released.frame.whole",
        "sends_what_is_whole",
    ),
    Fault(INGRESS_STAGE, "takes-what-is-not-there", "packet_valid_i && place;", "place;", "takes_a_packet"),
    Fault(
        INGRESS_STAGE,
        "answers-early",
        "reply_valid_o = state_q == ANSWERS;",
        "reply_valid_o = state_q != SETTLES;",
        "answers_a_command",
    ),
    Fault(
        INGRESS_STAGE,
        "packets-go-before",
        "!interrupts && packet_valid_i && place;",
        "packet_valid_i && place;",
        "command_goes_before",
    ),
    Fault(
        INGRESS_STAGE, "does-not-settle", "SETTLES: if (wait_q == 0) ", "SETTLES: ", "settled_when_answered"
    ),
    Fault(
        INGRESS_STAGE,
        "takes-with-the-first-beat",
        "state_q == ANSWERS && reply_ready_i && last;",
        "state_q == ANSWERS && reply_ready_i;",
        "taken_with_its_last_beat",
    ),
    Fault(
        INGRESS_STAGE,
        "answers-with-one-beat",
        "last = !reads || beat_q;",
        "last = 1'b1;",
        "beats_of_an_answer",
    ),
    Fault(INGRESS_STAGE, "does-not-wait", "if (reply_ready_i) beat_q <= 1'b1;", "beat_q <= 1'b1;", "stable"),
    Fault(
        INGRESS_STAGE,
        "looks-for-ever",
        "LOOKS: if (wait_q == 0)",
        "LOOKS: if (wait_q == 15)",
        "answered_within",
    ),
    Fault(
        INGRESS_STAGE,
        "runs-after-reset",
        "      state_q <= CLEARS;\n      wait_q",
        "      state_q <= RUNS;\n      wait_q",
        "clears_first",
    ),
    Fault(INGRESS_STAGE, "clears-nothing", " || state_q == CLEARS;", ";", "no_epoch_after_a_reset"),
    Fault(
        INGRESS_STAGE, "keeps-the-generation", "generation_q <= !generation_q;", "", "no_epoch_after_a_reset"
    ),
    Fault(
        INGRESS_STAGE,
        "leaves-out-the-last-bucket",
        "32'(renewed_q) == BUCKETS - 1",
        "32'(renewed_q) == BUCKETS - 2",
        "no_epoch_after_a_reset",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_fault_is_found(fault: Fault, tmp_path: Path) -> None:
    source = fault.proof.properties if fault.in_properties else fault.proof.module
    text = source.read_text()
    assert text.count(fault.old) == 1, f"{fault}: its text is not there once"
    planted = tmp_path / source.name
    planted.write_text(text.replace(fault.old, fault.new))
    assert refutes(fault.proof, fault.refuted, tmp_path, {source: planted})


def test_each_property_is_refuted_by_a_fault() -> None:
    label = re.compile(r"(\w+) : assert\b")
    texts = [source.read_text() for source in (*SHELL.glob("*.sv"), *PROPERTIES.glob("*.sv"))]
    texts += [stand_in(function) for proof in PROOFS for function in proof.functions]
    names = {name for text in texts for name in label.findall(text)}
    assert {name for name in names if not name.startswith("reaches_")} == {fault.refuted for fault in FAULTS}
    # Those of a module in the file of its own are broken in that module.
    for proof in PROOFS:
        own = {
            name for name in label.findall(proof.properties.read_text()) if not name.startswith("reaches_")
        }
        assert own <= {fault.refuted for fault in FAULTS if fault.proof.name == proof.name}, proof
