# SPDX-License-Identifier: Apache-2.0
# Made by `python -m clarion_contract.generate` from contract.yaml; do not edit.
"""The layout of the header between IP and transport, docs/wire-format.md."""

from __future__ import annotations

from clarion_contract.header import Format, HeaderField, Part

PROTOCOL = 253
VERSION = 1

# Of every format, with the parts of fields from their high bits down.
PREFIX = (
    HeaderField(name="next_protocol", at=0, bits=8),
    HeaderField(name="length", at=1, bits=8),
    HeaderField(name="version", at=2, bits=4),
    HeaderField(name="format", at=2, bits=4),
    HeaderField(
        name="flags",
        at=3,
        bits=8,
        parts=(
            Part(name="rev_field", bits=3, shift=5),
            Part(name="regulated", bits=1, shift=4),
            Part(name="hop", bits=3, shift=1),
            Part(name="echo", bits=1, shift=0),
        ),
    ),
)

FORMATS = {
    "data": Format(
        name="data",
        code=1,
        size=32,
        fields=(
            HeaderField(
                name="rtt",
                at=4,
                bits=32,
                parts=(
                    Part(name="rtt", bits=29, shift=3),
                    Part(name="field", bits=3, shift=0),
                ),
            ),
            HeaderField(name="x", at=8, bits=32),
            HeaderField(name="delta_throughput", at=12, bits=32),
            HeaderField(name="reverse_feedback", at=16, bits=32),
            HeaderField(name="bucket", at=20, bits=16),
            HeaderField(name="link_seq", at=22, bits=16),
            HeaderField(name="corrupt", at=24, bits=16),
            HeaderField(name="congest", at=26, bits=16),
            HeaderField(name="rev_corrupt", at=28, bits=16),
            HeaderField(name="rev_congest", at=30, bits=16),
        ),
    ),
    "ack": Format(
        name="ack",
        code=2,
        size=12,
        fields=(
            HeaderField(name="reverse_feedback", at=4, bits=32),
            HeaderField(name="rev_corrupt", at=8, bits=16),
            HeaderField(name="rev_congest", at=10, bits=16),
        ),
    ),
    "tag": Format(
        name="tag",
        code=3,
        size=16,
        fields=(
            HeaderField(name="bucket", at=4, bits=16),
            HeaderField(name="link_seq", at=6, bits=16),
            HeaderField(name="corrupt", at=8, bits=16),
            HeaderField(name="congest", at=10, bits=16),
            HeaderField(name="rev_corrupt", at=12, bits=16),
            HeaderField(name="rev_congest", at=14, bits=16),
        ),
    ),
}
