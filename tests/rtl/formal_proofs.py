# SPDX-License-Identifier: Apache-2.0
"""What is proved of hls/rtl: module by module, at which sizes, beside what."""

from __future__ import annotations

from rtl.formal import Proof

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
