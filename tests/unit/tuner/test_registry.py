# SPDX-License-Identifier: Apache-2.0
"""The catalogue of policies, its refusals, and its page."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

from clarion_contract.settings import PortSettings, XcpSettings
from clarion_contract.settings_json import to_json
from clarion_control.errors import FieldError, NotFoundError
from clarion_control.tuner.describe import markdown
from clarion_control.tuner.registry import POLICIES, checked_parameters, policy

PAGE = Path(__file__).resolve().parents[3] / "docs/tuner.md"


def test_the_page_says_what_the_policies_say() -> None:
    text = PAGE.read_text()
    for spec in POLICIES.values():
        assert markdown(spec) in text, f"docs/tuner.md: {spec.name}: python -m clarion_control.tuner.describe"


def test_policies_govern_fields_of_a_port_and_no_two_the_same() -> None:
    document = to_json(PortSettings(1, xcp=XcpSettings(100_000_000)))
    names = {*document, *(f"xcp.{name}" for name in document["xcp"])}
    governed = [field for spec in POLICIES.values() for field in spec.governs]
    assert len(governed) == len(set(governed)) == 4
    assert set(governed) <= names


@pytest.mark.parametrize("spec", POLICIES.values(), ids=POLICIES)
def test_every_default_lies_in_its_bounds_and_every_parameter_named_exists(spec: Any) -> None:
    complete = checked_parameters(spec.name, {})
    assert list(complete) == [parameter.name for parameter in spec.parameters]
    named = set(re.findall(r"`(\w+)`", " ".join([spec.law, *spec.guard_rails])))
    assert named - {"negative", "rate"} <= set(complete)
    assert spec.guard_rails


def test_given_parameters_are_kept_and_the_others_filled_in() -> None:
    complete = checked_parameters("noise", {"factor": 5, "least_lost": 20.0})
    assert (complete["factor"], complete["least_lost"], complete["threshold"]) == (5.0, 20, 12)


@pytest.mark.parametrize(
    ("name", "given", "line"),
    [
        ("noise", {"faktor": 5}, "parameters.faktor: policy noise has no such parameter; it has factor,"),
        ("noise", {"factor": "5"}, "parameters.factor: use a number from 1.2 to 1000"),
        ("noise", {"factor": True}, "parameters.factor: use a number from 1.2 to 1000"),
        ("noise", {"factor": math.nan}, "parameters.factor: use a number from 1.2 to 1000"),
        ("noise", {"factor": 1}, "parameters.factor: use a number from 1.2 to 1000"),
        ("noise", {"least_lost": 1.5}, "parameters.least_lost: use a whole number from 1 to 100000 packets"),
        (
            "capacity",
            {"min_capacity_bps": 2_000_000, "max_capacity_bps": 1_000_000},
            "parameters.min_capacity_bps: must be at most max_capacity_bps, which is 1e+06",
        ),
        ("stability", {"alpha_max": 0.56}, "parameters.alpha_max: use a number from 0.01 to 0.55"),
        ("stability", {"alpha_min": 0.5}, "parameters.alpha_min: must be at most alpha_max, which is 0.4"),
        ("convergence", {"gamma_unfair": 0.4}, "parameters.gamma_unfair: use a number from 0.01 to 0.35"),
    ],
)
def test_what_cannot_be_is_refused_by_name(name: str, given: dict[str, Any], line: str) -> None:
    with pytest.raises(FieldError) as caught:
        checked_parameters(name, given)
    assert str(caught.value).startswith(line)


def test_there_are_no_other_policies() -> None:
    with pytest.raises(NotFoundError, match="policy speed: there is none"):
        policy("speed")
