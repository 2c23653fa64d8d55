# SPDX-License-Identifier: Apache-2.0
"""The FPGA block's register map: generated files, refusals, numbers shared with other sources."""

from __future__ import annotations

import copy
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from clarion_base.paths import ROOT
from clarion_contract.generate import contract_model
from clarion_contract.generate.__main__ import FILES, SOURCE, texts
from clarion_contract.generate.document import DocumentError
from clarion_contract.generate.register_cpp import sections
from clarion_contract.generate.register_model import BEAT_WORDS, RegisterMap, read
from clarion_nic.driver import register_map
from conformance.reference import Config

DOCUMENT = yaml.safe_load(SOURCE.read_text())
CONTRACT = contract_model.read()
GENERATE = "clarion_contract.generate"


@pytest.fixture(scope="module")
def regmap() -> RegisterMap:
    return read(SOURCE, CONTRACT)


def numbers(regmap: RegisterMap) -> dict[str, int]:
    return {constant.name: constant.value for section in sections(regmap) for constant in section.constants}


@pytest.fixture(scope="module")
def generated() -> dict[str, str]:
    return texts()


@pytest.mark.parametrize("form", FILES)
def test_committed_file_is_the_generated_one(form: str, generated: dict[str, str]) -> None:
    assert (ROOT / FILES[form]).read_text() == generated[form], f"run python -m {GENERATE}"


@pytest.mark.parametrize("form", FILES)
def test_command_prints_the_form(form: str) -> None:
    done = subprocess.run([sys.executable, "-m", GENERATE, form], capture_output=True, text=True, check=True)
    assert done.stdout == (ROOT / FILES[form]).read_text()


# Invalid maps: the place, the value put there (None: removed), and the message.
BAD: dict[str, tuple[str, Any, str]] = {
    "part missing": ("status", None, "'status' is missing"),
    "part unknown": ("more", 1, "unknown key 'more'"),
    "no mapping": ("window", 5, "window: a mapping is needed"),
    "window odd": ("window.bytes", 0x10010, "window.bytes: a power of two is needed"),
    "stride text": ("window.stride", "4k", "window.stride: a whole number from 64 to 0x1000000 is needed"),
    "header short": ("header.3", None, "header: register 'port' is missing"),
    "name odd": ("header.0.name", "Type", "'Type' is no name"),
    "name twice": (
        "blocks.clarion.registers.0.name",
        "buckets",
        "blocks.clarion.registers: 'buckets' stands twice",
    ),
    "no list": ("blocks.clarion.registers", {}, "blocks.clarion.registers: a list is needed"),
    "offset between words": ("header.0.offset", 2, "header.type.offset: 0x2 is no multiple of 4"),
    "offset in the next block": (
        "header.0.offset",
        0x1000,
        "header.type.offset: a whole number from 0 to 0xffc is needed, not 4096",
    ),
    "offset true": ("header.0.offset", True, "header.type.offset: a whole number"),
    "same offset": ("header.1.offset", 0, "blocks.clarion: type and version overlap at 0x0"),
    "register over header": (
        "blocks.clarion.registers.0.offset",
        8,
        "blocks.clarion: next and ports overlap at 0x8",
    ),
    "command over mailbox": (
        "mailbox.command.offset",
        0,
        "blocks.ingress: type and command overlap at 0x0",
    ),
    "reply over command": (
        "mailbox.reply.offset",
        0x40,
        "blocks.ingress: command and reply overlap at 0x40",
    ),
    "reply too far": ("mailbox.reply.offset", 0xFC0, "mailbox.reply: it ends beyond the block's 0x1000"),
    "reply between beats": ("mailbox.reply.offset", 0x120, "0x120 is no multiple of a beat's 64 bytes"),
    "reply of half beats": ("mailbox.reply.words", 40, "a reply is whole beats of 16 words, not 40 words"),
    "reply too long": ("mailbox.reply.words", 144, "mailbox.reply.words: a whole number from 1 to 0x80"),
    "command short": ("mailbox.command.words", 8, "a command is one beat of 16 words, not 8"),
    "access": ("header.0.access", "wo", "header.type.access: ro or rw is needed, not 'wo'"),
    "reset of a constant": ("header.0.reset", 1, "header.type: reset and mask are of registers that can"),
    "reset beyond mask": (
        "blocks.clarion.registers.6.reset",
        256,
        "blocks.clarion.registers.protocol.reset: 0x100 has bits that the mask 0xff has not",
    ),
    "about empty": ("header.0.about", "", "header.type.about: a line of text is needed, not ''"),
    "about breaks out": ("header.0.about", 'a "b"', "have a meaning in what is generated"),
    "first block": ("blocks.clarion", None, "blocks: `clarion` is needed as the first"),
    "type twice": ("blocks.egress.type", 0x434C4149, "blocks: ingress and egress are both 0x434c4149"),
    "type 0": ("blocks.egress.type", 0, "blocks.egress.type: a whole number from 1"),
    "version": ("blocks.egress.version.major", 0, "blocks.egress.version.major: a whole number from 1"),
    "mailbox maybe": ("blocks.egress.mailbox", "maybe", "blocks.egress.mailbox: true or false is needed"),
    "no mailbox": ("blocks.egress.mailbox", False, "commands.egress: no block with a mailbox has this name"),
    "operation twice": ("operations.reset.code", 2, "operations: read and reset are both 0x2"),
    "operation 0": ("operations.read.code", 0, "operations.read.code: a whole number from 1"),
    "status wide": ("status.ok.code", 256, "status.ok.code: a whole number from 0 to 0xff is needed"),
    "operation unknown": (
        "commands.egress.stop",
        [],
        "commands.egress.stop: unknown operation; known are configure",
    ),
    "bits": (
        "commands.egress.configure.2.bits",
        65,
        "commands.egress.configure.epoch.bits: a whole number from 1 to 0x40 is needed, not 65",
    ),
    "limit beyond bits": (
        "commands.egress.configure.2.limit",
        1 << 8,
        "commands.egress.configure.epoch.limit: a whole number from 1 to 0xff is needed",
    ),
    "limit with sign": ("replies.egress.read.2.2.limit", 5, "phi: limit is of fields without sign"),
    "field twice": (
        "commands.ingress.configure.1.name",
        "check",
        "commands.ingress.configure: 'check' stands twice",
    ),
    "field in two beats": (
        "replies.ingress.read.1.1.name",
        "lost",
        "replies.ingress.read: 'lost' stands twice",
    ),
    "no such table": (
        "commands.egress.configure.3.arguments",
        "stamp_port",
        "commands.egress.configure.3: a table with arguments is needed",
    ),
    "one name for many": (
        "commands.egress.configure.3.name",
        "capacity",
        "a table with arguments is needed, with one only for another name",
    ),
    "beat too long": (
        "replies.ingress.read.0.8",
        {"name": "more", "bits": 1, "about": "x"},
        "replies.ingress.read.0.more: it ends beyond the beat's 16 words",
    ),
    "no beats": ("replies.ingress.read", [], "replies.ingress.read: 0 beats; 1 to 7 have room"),
    "beats too many": ("replies.ingress.read", [[]] * 8, "replies.ingress.read: 8 beats; 1 to 7 have room"),
    "one name for two": (
        "commands.egress.configure.4.name",
        "epoch_bits",
        "two things would both be called EGRESS_CONFIGURE_EPOCH_BITS",
    ),
}


def changed(where: str, value: Any) -> Any:
    """Return the map with a value put in place; None removes the entry."""
    document = copy.deepcopy(DOCUMENT)
    *path, last = [int(part) if part.isdigit() else part for part in where.split(".")]
    place = document
    for part in path:
        place = place[part]
    if value is None:
        del place[last]
    elif isinstance(place, list) and last == len(place):
        place.append(value)
    else:
        place[last] = value
    return document


@pytest.mark.parametrize("name", BAD)
def test_bad_map_is_refused_where_it_is_bad(name: str, tmp_path: Path) -> None:
    where, value, message = BAD[name]
    file = tmp_path / "registers.yaml"
    file.write_text(yaml.safe_dump(changed(where, value), sort_keys=False))
    with pytest.raises(DocumentError) as caught:
        sections(read(file, CONTRACT))
    text = str(caught.value)
    assert message in text
    assert text.startswith("registers.yaml: ")
    assert "\n" not in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("window: {bytes: 1, bytes: 2}", "line 1: 'bytes' stands twice"),
        ("window: {", "not YAML: while parsing"),
        ("- 1", "a mapping is needed"),
    ],
)
def test_file_that_is_no_map_is_one_line(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "odd.yaml"
    file.write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", GENERATE, "cpp", "--map", file], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"generate: odd.yaml: {message}")
    assert done.stderr.count("\n") == 1


def test_absent_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"no\.yaml: No such file or directory"):
        read(tmp_path / "no.yaml", CONTRACT)


def test_no_two_registers_share_a_byte(regmap: RegisterMap) -> None:
    for block in regmap.blocks:
        words = [register.offset for register in (*regmap.header, *block.registers)]
        if block.has_mailbox:
            words += [register.offset for register in regmap.mailbox]
            words += [regmap.command_offset + 4 * i for i in range(regmap.command_words)]
            words += [regmap.reply_offset + 4 * i for i in range(regmap.reply_words)]
        assert len(set(words)) == len(words)
        assert all(offset % 4 == 0 and offset < regmap.stride_bytes for offset in words)


def test_fields_follow_each_other_within_a_beat(regmap: RegisterMap) -> None:
    for block in regmap.blocks:
        beats = [(1, 16, fields) for fields in block.commands.values()]
        for reply in block.replies.values():
            assert len(reply) * BEAT_WORDS <= regmap.reply_words
            beats += [(BEAT_WORDS * i, BEAT_WORDS * (i + 1), fields) for i, fields in enumerate(reply)]
        for first, end, fields in beats:
            assert fields[0].word == first
            assert all(b.word == a.word + (2 if a.bits > 32 else 1) for a, b in pairwise(fields))
            assert fields[-1].word + (2 if fields[-1].bits > 32 else 1) <= end


def test_places_that_others_count_on(regmap: RegisterMap) -> None:
    found = numbers(regmap)
    # Counted by hand in registers.yaml.
    assert found["TYPE_CLARION"].to_bytes(4, "big") == b"CLAR"
    assert found["TYPE_INGRESS"].to_bytes(4, "big") == b"CLAI"
    assert found["TYPE_EGRESS"].to_bytes(4, "big") == b"CLAE"
    assert (found["EGRESS_CONFIGURE_XCP"], found["EGRESS_CONFIGURE_CAPACITY"]) == (1, 4)
    assert (found["EGRESS_CONFIGURE_ALPHA"], found["EGRESS_CONFIGURE_QUEUE_LIMIT"]) == (6, 12)
    assert (found["EGRESS_READ_TX_BYTES"], found["EGRESS_READ_QUEUE_LOST"]) == (2, 16)
    assert (found["EGRESS_READ_BEATS"], found["EGRESS_READ_POS"]) == (7, 80)
    assert (found["EGRESS_READ_CREDIT"], found["EGRESS_READ_FAIR"], found["EGRESS_READ_MAX_RTT"]) == (
        91,
        96,
        110,
    )
    assert (found["EGRESS_CONFIGURE_GENERATION"], found["EGRESS_CONFIGURE_GENERATION_LIMIT"]) == (11, 2)


def test_python_has_the_numbers_of_cpp(regmap: RegisterMap) -> None:
    found = numbers(regmap)
    assert (found["WINDOW_BYTES"], found["STRIDE_BYTES"]) == (
        register_map.WINDOW_BYTES,
        register_map.STRIDE_BYTES,
    )
    seen = 2
    tables = {"HEADER": register_map.HEADER, "MAILBOX": register_map.MAILBOX, **register_map.REGISTERS}
    for block, registers in tables.items():
        for name, register in registers.items():
            key = f"{block}_{name}".upper()
            assert found[f"AT_{key}"] == register.offset
            seen += 1
            if register.writable and block != "HEADER":
                assert (found[f"RESET_{key}"], found[f"MASK_{key}"]) == (register.reset, register.mask)
                seen += 2
    for block, type_ in register_map.BLOCK_TYPES.items():
        major, minor = register_map.BLOCK_VERSIONS[block]
        assert (found[f"TYPE_{block.upper()}"], found[f"VERSION_{block.upper()}"]) == (
            type_,
            major << 16 | minor,
        )
        seen += 2
    for prefix, codes in (("OP", register_map.OPERATIONS), ("STATUS", register_map.STATUS)):
        for name, code in codes.items():
            assert found[f"{prefix}_{name.upper()}"] == code
            seen += 1
    for block, commands in register_map.COMMANDS.items():
        for operation, fields in commands.items():
            for field in fields:
                key = f"{block}_{operation}_{field.name}".upper()
                places = (found[key], found[f"{key}_BITS"], found[f"{key}_LIMIT"])
                assert places == (field.word, field.bits, field.limit)
                seen += 3
    for block, replies in register_map.REPLIES.items():
        for operation, beats in replies.items():
            seen += 1 if any(beats) else 0
            for field in (field for beat in beats for field in beat):
                assert found[f"{block}_{operation}_{field.name}".upper()] == field.word
                seen += 1
    sizes = ("COMMAND_WORDS", "REPLY_WORDS", "BEAT_WORDS")
    assert all(found[name] == getattr(register_map, name) for name in sizes)
    assert found["AT_MAILBOX_COMMAND"] == register_map.COMMAND_OFFSET
    assert found["AT_MAILBOX_REPLY"] == register_map.REPLY_OFFSET
    assert seen + len(sizes) + 2 == len(found)


def test_systemverilog_has_the_numbers_of_cpp(regmap: RegisterMap, generated: dict[str, str]) -> None:
    pattern = r"localparam logic \[(\d+):0\] (\w+) = (\d+)'([hd])([0-9a-f]+);"
    lines = re.findall(pattern, generated["sv"])
    bases = {"h": 16, "d": 10}
    assert {name: int(digits, bases[base]) for _, name, _, base, digits in lines} == numbers(regmap)
    for high, name, bits, _, digits in lines:
        assert int(high) + 1 == int(bits) == (64 if numbers(regmap)[name] >> 32 else 32), (name, digits)


CHECKS = """
#include "hls/sim/register_map.hpp"
#include "core/config.hpp"
using namespace clarion;
namespace r = clarion::registers;
static_assert(r::RESET_CLARION_PROTOCOL == DEFAULT_PROTOCOL, "protocol");
static_assert(r::EGRESS_CONFIGURE_CAPACITY_LIMIT == RATE_MAX >> RATE_FRACTION_BITS, "capacity");
static_assert(r::EGRESS_CONFIGURE_ALPHA_LIMIT == COEFFICIENT_MAX, "alpha");
static_assert(r::EGRESS_CONFIGURE_BETA_LIMIT == COEFFICIENT_MAX, "beta");
static_assert(r::EGRESS_CONFIGURE_GAMMA_LIMIT == COEFFICIENT_MAX, "gamma");
static_assert(r::EGRESS_CONFIGURE_MIN_INTERVAL_LIMIT == TICKS_MAX, "min_interval");
static_assert(r::EGRESS_CONFIGURE_MAX_INTERVAL_LIMIT == TICKS_MAX, "max_interval");
static_assert(r::EGRESS_CONFIGURE_QUEUE_LIMIT_LIMIT == QUEUE_MAX, "queue_limit");
"""


def test_limits_are_those_of_the_core() -> None:
    command = [
        "g++",
        "-std=c++17",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-fsyntax-only",
        f"-I{ROOT}",
        "-x",
        "c++",
        "-",
    ]
    done = subprocess.run(command, input=CHECKS, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_defaults_of_the_core_are_legal() -> None:
    limits = {field.name: field.limit for field in register_map.COMMANDS["egress"]["configure"]}
    default = Config()
    for name in ("alpha", "beta", "gamma", "min_interval", "max_interval", "generation"):
        assert 0 < getattr(default, name) <= limits[name]
