# SPDX-License-Identifier: Apache-2.0
"""Numbers that are spelled in more than one language agree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clarion_base.faults import Code
from clarion_contract.settings import XcpSettings
from clarion_lab.scenario import documents
from clarion_lab.scenario.algorithms import ALGORITHMS
from clarion_lab.scenario.frames import ACK_HEADER_BYTES, HEADER_BYTES
from clarion_lab.scenario.model import build

ROOT = Path(__file__).resolve().parents[2]


def found(file: str, pattern: str) -> str:
    match = re.search(pattern, (ROOT / file).read_text())
    assert match, f"{file}: no {pattern}"
    return match[1].replace("'", "")


@pytest.mark.parametrize(
    ("algorithm", "parameter", "value"),
    [
        ("boost-literal", "boost_loss", "BOOST_LOSS_LITERAL"),
        ("boost", "boost_loss", "BOOST_LOSS_TAGGED"),
        ("boost-judged", "boost_loss", "BOOST_LOSS_JUDGED"),
        ("p-xcp", "xcp_loss", "XCP_LOSS_NONE"),
        ("fast-generalized", "fast_alpha_rule", "FAST_ALPHA_GENERALIZED"),
        ("fast-adaptive", "fast_alpha_rule", "FAST_ALPHA_ADAPTIVE"),
    ],
)
def test_variants_are_those_of_the_law(algorithm: str, parameter: str, value: str) -> None:
    number = found("hosts/bpf/cc/params.h", rf"{value} = (\d+)")
    assert ALGORITHMS[algorithm].params == {parameter: number}


@pytest.mark.parametrize("header", ["DATA", "TAG"])
def test_header_lengths_are_those_on_the_wire(header: str) -> None:
    assert HEADER_BYTES[header] == int(found("hosts/bpf/header.h", rf"CLARION_{header}_BYTES\s+(\d+)"))
    assert HEADER_BYTES[header] == int(found("docs/wire-format.md", rf"\| {header}, format \d, (\d+) bytes"))


def test_acknowledgements_have_their_own_header_under_xcp_only() -> None:
    assert ACK_HEADER_BYTES["DATA"] == int(found("hosts/bpf/header.h", r"CLARION_ACK_BYTES\s+(\d+)"))
    assert ACK_HEADER_BYTES["TAG"] == HEADER_BYTES["TAG"]


def test_controller_defaults_are_those_of_the_contract() -> None:
    document = documents.read(documents.locate("geo"))
    del document["xcp"]
    scenario = build("geo", documents.points("geo", document)[0].document)
    assert scenario.xcp_of("s1", 100_000_000) == XcpSettings(100_000_000)


def test_faults_of_the_switch_have_the_codes_of_python() -> None:
    names = found("switch/error.hpp", r"NAMES\[\] = \{([^}]*)\}")
    assert re.findall(r"\w+", names) == [code.value for code in Code]
