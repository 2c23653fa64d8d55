# SPDX-License-Identifier: Apache-2.0
"""The policies as docs/tuner.md shows them: python -m clarion_control.tuner.describe prints that part."""

from __future__ import annotations

import textwrap

from clarion_control.tuner.policy import Parameter, PolicySpec
from clarion_control.tuner.registry import POLICIES

_WIDTH = 118


def markdown(spec: PolicySpec) -> str:
    """Heading, law, guard rails and parameters of a policy."""
    governs = ", ".join(f"`{field}`" for field in spec.governs) or "nothing"
    rails = (
        textwrap.fill(rail, _WIDTH, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False)
        for rail in spec.guard_rails
    )
    return "\n".join(
        [
            f"### {spec.name}: {spec.title}",
            "",
            f"Sets {governs}.",
            "",
            textwrap.fill(spec.law, _WIDTH, break_on_hyphens=False),
            "",
            *rails,
            "",
            "| parameter | default | bounds | meaning |",
            "| --- | --: | --- | --- |",
            *map(_row, spec.parameters),
            "",
        ]
    )


def _row(parameter: Parameter) -> str:
    unit = f" {parameter.unit}" if parameter.unit else ""
    bounds = f"{_number(parameter.low)} to {_number(parameter.high)}"
    return f"| `{parameter.name}` | {_number(parameter.default)}{unit} | {bounds} | {parameter.meaning} |"


def _number(value: float) -> str:
    return f"{value:,.15g}"


if __name__ == "__main__":
    print("\n".join(markdown(each) for each in POLICIES.values()))
