# SPDX-License-Identifier: Apache-2.0
"""Properties of the modules of hls/rtl, proved; and faults planted in those modules, which break them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rtl import formal_faults_of_parts, formal_faults_of_stages
from rtl.formal import PROPERTIES, SHELL, Fault, Proof, judge, refutes, stand_in
from rtl.formal_proofs import PROOFS
from rtl.simulation import needs

pytestmark = [needs("yosys", "yosys"), needs("yosys-abc", "yosys")]

FAULTS = [*formal_faults_of_parts.FAULTS, *formal_faults_of_stages.FAULTS]


@pytest.mark.slow
@pytest.mark.parametrize("proof", PROOFS, ids=str)
def test_all_properties_hold(proof: Proof, tmp_path: Path) -> None:
    verdict = judge(proof, tmp_path)
    reached = re.findall(r"(reaches_\w+) : assert\b", proof.properties.read_text())
    assert not verdict.broken
    assert {name for name in reached if name not in verdict.refuted} == set()
    assert verdict.proved


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
