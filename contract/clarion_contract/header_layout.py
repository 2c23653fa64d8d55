# SPDX-License-Identifier: Apache-2.0
# Made by `python -m clarion_contract.generate` from contract.yaml; do not edit.
"""The layout of the header between IP and transport, docs/wire-format.md."""

from __future__ import annotations

from clarion_contract.header import Field, Format, Part

PROTOCOL = 253
VERSION = 1

# Of every format, with the parts of fields from their high bits down.
PREFIX = (
    Field(name="next_protocol", at=0, bits=8),
    Field(name="length", at=1, bits=8),
    Field(name="version", at=2, bits=4),
    Field(name="format", at=2, bits=4),
    Field(
        name="flags",
        at=3,
        bits=8,
        parts=(
            Part(name="rev_field", bits=3),
            Part(name="regulated", bits=1),
            Part(name="hop", bits=3),
            Part(name="echo", bits=1),
        ),
    ),
)

FORMATS = {
    "data": Format(
        code=1,
        bytes=32,
        fields=(
            Field(
                name="rtt",
                at=4,
                bits=32,
                parts=(
                    Part(name="rtt", bits=29),
                    Part(name="field", bits=3),
                ),
            ),
            Field(name="x", at=8, bits=32),
            Field(name="delta_throughput", at=12, bits=32),
            Field(name="reverse_feedback", at=16, bits=32),
            Field(name="bucket", at=20, bits=16),
            Field(name="link_seq", at=22, bits=16),
            Field(name="corrupt", at=24, bits=16),
            Field(name="congest", at=26, bits=16),
            Field(name="rev_corrupt", at=28, bits=16),
            Field(name="rev_congest", at=30, bits=16),
        ),
    ),
    "ack": Format(
        code=2,
        bytes=12,
        fields=(
            Field(name="reverse_feedback", at=4, bits=32),
            Field(name="rev_corrupt", at=8, bits=16),
            Field(name="rev_congest", at=10, bits=16),
        ),
    ),
    "tag": Format(
        code=3,
        bytes=16,
        fields=(
            Field(name="bucket", at=4, bits=16),
            Field(name="link_seq", at=6, bits=16),
            Field(name="corrupt", at=8, bits=16),
            Field(name="congest", at=10, bits=16),
            Field(name="rev_corrupt", at=12, bits=16),
            Field(name="rev_congest", at=14, bits=16),
        ),
    ),
}
