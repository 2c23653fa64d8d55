# SPDX-License-Identifier: Apache-2.0
"""Functions of the FPGA block: what is refused, where numbers are. test_registers.py has the files made."""

from __future__ import annotations

import copy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from clarion_contract.generate import function_cpp
from clarion_contract.generate.document import DocumentError
from clarion_contract.generate.function_model import SOURCE, Function, Functions, numbers, read, width
from clarion_contract.generate.function_sv import as_package

DOCUMENT = yaml.safe_load(SOURCE.read_text())


@pytest.fixture(scope="module")
def functions() -> Functions:
    return read()


# Invalid functions: the place, the value put there (None: removed), and the message.
BAD: dict[str, tuple[str, Any, str]] = {
    "part missing": ("types", None, "'types' is missing"),
    "part unknown": ("more", 1, "unknown key 'more'"),
    "no functions": ("functions", {}, "functions: a function is needed"),
    "key of a type": (
        "types.gain.width",
        1,
        "types.gain: unknown key 'width'; known are fields, core, about",
    ),
    "type of the shell alone": (
        "functions.judge.arguments.0.type",
        "beat",
        "functions.judge.arguments.slot.type: 'beat' is of the shell alone: it names no `core` type",
    ),
    "type of the core with one of the shell": (
        "types.gain.fields.0",
        {"name": "mantissa", "type": "beat"},
        "types.gain.fields.mantissa.type: 'beat' is of the shell alone",
    ),
    "key of a function": ("functions.judge.clocks", 1, "functions.judge: unknown key 'clocks'"),
    "key of a field": (
        "functions.judge.arguments.1.limit",
        1,
        "functions.judge.arguments.number: unknown key 'limit'",
    ),
    "field without a name": ("types.gain.fields.0.name", None, "types.gain.fields.0: 'name' is missing"),
    "no fields": ("types.gain.fields", [], "types.gain.fields: a field is needed"),
    "no results": ("functions.judge.results", [], "functions.judge.results: a field is needed"),
    "bits and type": (
        "functions.judge.arguments.0.bits",
        41,
        "functions.judge.arguments.slot: either bits or a type is needed",
    ),
    "neither": (
        "functions.judge.arguments.1.bits",
        None,
        "functions.judge.arguments.number: either bits or a type is needed",
    ),
    "no bits": (
        "types.gain.fields.0.bits",
        0,
        "types.gain.fields.mantissa.bits: a whole number from 1 to 0x40",
    ),
    "bits": (
        "types.gain.fields.0.bits",
        65,
        "fields.mantissa.bits: a whole number from 1 to 0x40 is needed, not 65",
    ),
    "unknown type": (
        "functions.judge.arguments.0.type",
        "slots",
        "functions.judge.arguments.slot.type: unknown type 'slots'; known are gain, slot",
    ),
    "part of itself": (
        "types.gain.fields.0",
        {"name": "mantissa", "type": "gain"},
        "types.gain.fields.mantissa.type: 'gain' would be part of itself",
    ),
    "part of a part": (
        "types.gain.fields.0",
        {"name": "mantissa", "type": "gains"},
        "'gain' would be part of itself",
    ),
    "core": ("types.gain.core", "Gain", "types.gain.core: 'Gain' is no type of C++ with its namespace"),
    "core unknown": (
        "types.gain.core",
        "clarion::Gains",
        "types.gain.core: no such type; known are clarion::Claim",
    ),
    "field twice": ("types.gain.fields.1.name", "mantissa", "types.gain.fields: 'mantissa' stands twice"),
    "argument twice": (
        "functions.judge.arguments.1.name",
        "slot",
        "functions.judge.arguments: 'slot' stands twice",
    ),
    "latency": ("functions.judge.latency", 0, "functions.judge.latency: a whole number from 1"),
    "interval": ("functions.judge.interval", 0, "functions.judge.interval: a whole number from 1"),
    "interval too long": (
        "functions.grant.interval",
        3,
        "functions.grant.interval: 3 is more than the latency, 2",
    ),
    "one bit with sign": (
        "functions.judge.arguments.2.signed",
        True,
        "functions.judge.arguments.counts.signed: a number with a sign has 2 bits or more",
    ),
    "sign of a type": (
        "functions.judge.arguments.0.signed",
        True,
        "functions.judge.arguments.slot.signed: it is of fields with bits",
    ),
    "sign maybe": ("types.gain.fields.0.signed", "yes", "types.gain.fields.mantissa.signed: true or false"),
    "sign of an array": (
        "functions.patch.results.1.signed",
        True,
        "functions.patch.results.data.signed: elements of arrays have no sign",
    ),
    "count": (
        "functions.patch.results.1.count",
        0,
        "functions.patch.results.data.count: a whole number from 1",
    ),
    "count of a type": (
        "functions.judge.arguments.0.count",
        2,
        "functions.judge.arguments.slot.count: it is of fields with bits",
    ),
    "about": ("functions.judge.about", "", "functions.judge.about: a line of text is needed"),
    "name": ("functions.judge.arguments.1.name", "Number", "'Number' is no name"),
    "name of C++": ("functions.judge.arguments.1.name", "new", "arguments.new.name: 'new' cannot be a name"),
    "function of C++": ("functions.switch", {}, "functions.switch: 'switch' cannot be a name"),
    "name of a keyword": ("functions.judge.arguments.1.name", "input_", "'input_' cannot be a name"),
}


def changed(where: str, value: Any) -> Any:
    """Return the functions with a value put in place; None removes the entry."""
    document = copy.deepcopy(DOCUMENT)
    *path, last = [int(part) if part.isdigit() else part for part in where.split(".")]
    place = document
    for part in path:
        place = place[part]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return document


def read_document(document: Any, folder: Path) -> Functions:
    file = folder / "functions.yaml"
    file.write_text(yaml.safe_dump(document, sort_keys=False))
    return read(file)


@pytest.mark.parametrize("name", BAD)
def test_bad_functions_are_refused_where_they_are_bad(name: str, tmp_path: Path) -> None:
    where, value, message = BAD[name]
    with pytest.raises(DocumentError) as caught:
        function_cpp.as_ports(read_document(changed(where, value), tmp_path))
    text = str(caught.value)
    assert message in text
    assert text.startswith("functions.yaml: ")
    assert "\n" not in text


@pytest.mark.parametrize(
    ("kind", "one", "other", "made"),
    [
        ("functions", "a_1", "a1", "a_1 and a1 would both make A1"),
        ("types", "judge_results", "judge", "judge_results and judge would both make judge_results_t"),
    ],
)
def test_two_of_a_name_are_refused(kind: str, one: str, other: str, made: str, tmp_path: Path) -> None:
    document = copy.deepcopy(DOCUMENT)
    document[kind][one] = copy.deepcopy(document[kind]["own"])
    document["functions"][other] = document["functions"]["judge"]
    with pytest.raises(DocumentError, match=made):
        read_document(document, tmp_path)


def test_command_says_what_is_wrong_in_a_line(tmp_path: Path) -> None:
    file = tmp_path / "odd.yaml"
    file.write_text("- 1")
    command = [sys.executable, "-m", "clarion_contract.generate", "functions", "--functions", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "generate: odd.yaml: a mapping is needed\n")


def test_types_come_after_those_they_are_made_of(tmp_path: Path) -> None:
    document = copy.deepcopy(DOCUMENT)
    document["types"] = dict(reversed(document["types"].items()))
    package = as_package(read_document(document, tmp_path))
    assert package.index("} gain_t;") < package.index("} shares_t;")


def function(functions: Functions, name: str) -> Function:
    return next(each for each in functions.functions if each.name == name)


def test_numbers_follow_each_other_from_the_low_end(functions: Functions) -> None:
    for each in functions.functions:
        for fields in (each.arguments, each.results):
            at = 0
            for number in numbers(fields):
                assert number.at == at
                at += number.bits
            assert at == width(fields)


def test_places_counted_by_hand(functions: Functions) -> None:
    judge = [(each.path, each.at, each.bits) for each in numbers(function(functions, "judge").arguments)]
    assert judge == [
        ("slot.expected", 0, 16),
        ("slot.total", 16, 16),
        ("slot.based", 32, 1),
        ("slot.far", 33, 8),
        ("number", 41, 16),
        ("counts", 57, 1),
    ]
    window = {each.path: each.at for each in numbers(function(functions, "classify").arguments)}
    assert (window["window[0]"], window["window[13]"], window["length"]) == (0, 832, 896)


def test_members_of_systemverilog_are_in_reverse_and_no_keywords(functions: Functions) -> None:
    package = as_package(functions)
    assert (
        """\
  typedef struct packed {  // 160 bits
    logic [63:0] sum_x_rtt;
    logic [47:0] sum_x;
    logic [47:0] input_;
  } sums_t;
"""
        in package
    )
    assert (
        """\
  typedef struct packed {  // 288 bits
    logic [3:0][63:0] data;
    logic [31:0] enable;
  } patch_results_t;
  localparam logic [31:0] PATCH_LATENCY = 32'd2;
  localparam logic [31:0] PATCH_INTERVAL = 32'd1;
"""
        in package
    )
    assert "    logic signed [38:0] limited;\n" in package
