# SPDX-License-Identifier: Apache-2.0
"""Which runs of the results are compared, by which metric, and over which parameter: for the command line and
for the dashboard alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clarion_base.errors import UserError
from clarion_lab.results.samples import Sample, quantity, same
from clarion_lab.scenario.documents import parse_assignment

METRIC = "goodput_bits_per_s"


@dataclass(frozen=True)
class Choice:
    """What is compared. Nothing chosen is everything."""

    metric: str = METRIC
    senders: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()
    where: Mapping[str, tuple[Any, ...]] | None = None  # a parameter has one of these values
    over: str | None = None  # the parameter along the axis
    pool: bool = False  # all results are repeats of each other

    @classmethod
    def parse(
        cls,
        metric: str,
        senders: Sequence[str],
        engines: Sequence[str],
        where: Sequence[str],
        over: str | None,
        pool: bool,
    ) -> Choice:
        """`where` as KEY=VALUE, several of one key for any of the values; UserError for other text."""
        wanted: dict[str, tuple[Any, ...]] = {}
        for text in where:
            key, value = parse_assignment(text, "--where")
            wanted[key] = (*wanted.get(key, ()), value)
        return cls(metric, tuple(senders), tuple(engines), wanted, over, pool)


def chosen(samples: Sequence[Sample], choice: Choice) -> list[Sample]:
    """The runs that are complete, have the metric and are chosen; UserError names the option that is wrong,
    or the first that leaves nothing.
    """
    _check(choice, samples)
    left = [each for each in samples if each.complete]
    if not left:
        raise UserError("compare: no run of these results is complete")
    left = [each for each in left if each.metrics.get(choice.metric) is not None]
    _refuse_none(left, "--metric", (choice.metric,))
    if choice.senders:
        left = [each for each in left if set(choice.senders) & set(each.senders)]
        _refuse_none(left, "--sender", choice.senders)
    if choice.engines:
        left = [each for each in left if each.engine in choice.engines]
        _refuse_none(left, "--engine", choice.engines)
    for key, values in (choice.where or {}).items():
        left = _where(left, key, values)
    if choice.over is not None and all(each.parameter(choice.over) is None for each in left):
        raise UserError(f"--over {choice.over}: no run that is left has it{_swept(left)}")
    return left


def offered(samples: Sequence[Sample]) -> dict[str, Any]:
    """What there is to choose from: metrics, senders, engines, and swept parameters with their values."""
    parameters: dict[str, list[Any]] = {}
    for sample in samples:
        for key, value in sample.settings.items():
            known = parameters.setdefault(key, [])
            if not any(same(value, other) for other in known):
                known.append(value)
    return {
        "metrics": _metrics(samples),
        "senders": sorted({sender for each in samples for sender in each.senders}),
        "engines": sorted({each.engine for each in samples}),
        "parameters": {key: sorted(values, key=order) for key, values in parameters.items()},
    }


def order(value: Any) -> tuple[bool, float, str]:
    """Numbers ascending, then words."""
    found = quantity(value)
    return (True, 0.0, str(value)) if found is None else (False, found[0], "")


def _metrics(samples: Sequence[Sample]) -> list[str]:
    """Those that some run has, in the order of the summaries."""
    return list(
        dict.fromkeys(name for each in samples for name, value in each.metrics.items() if value is not None)
    )


def _check(choice: Choice, samples: Sequence[Sample]) -> None:
    """Every word is one that the results have."""
    there = offered(samples)
    for option, given, known in (
        ("--metric", (choice.metric,), there["metrics"]),
        ("--sender", choice.senders, there["senders"]),
        ("--engine", choice.engines, there["engines"]),
    ):
        for word in given:
            if word not in known:
                raise UserError(
                    f"{option} {word}: these results have none; use {', '.join(known) or 'others'}"
                )


def _where(samples: Sequence[Sample], key: str, values: Sequence[Any]) -> list[Sample]:
    found = [each.parameter(key) for each in samples]
    if all(value is None for value in found):
        raise UserError(f"--where {key}: no run has it{_swept(samples)}")
    left = [
        each
        for each, value in zip(samples, found, strict=True)
        if any(same(value, wanted) for wanted in values)
    ]
    if not left:
        there = sorted({str(value) for value in found if value is not None})
        wanted = ", ".join(map(str, values))
        raise UserError(f"--where {key}={wanted}: no run that is left has that; use {', '.join(there)}")
    return left


def _swept(samples: Sequence[Sample]) -> str:
    keys = sorted({key for each in samples for key in each.settings})
    return f"; swept are {', '.join(keys)}" if keys else "; nothing was swept"


def _refuse_none(left: Sequence[Sample], option: str, words: Sequence[str]) -> None:
    if not left:
        raise UserError(f"{option} {','.join(words)}: no run that the other options leave has that")
