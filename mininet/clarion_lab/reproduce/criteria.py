# SPDX-License-Identifier: Apache-2.0
"""Judges the criteria of an experiment over its points, by the rules of docs/experiments.md."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clarion_base.errors import UserError
from clarion_lab.reproduce import statistics
from clarion_lab.reproduce.experiment import Criterion
from clarion_lab.reproduce.formula import Formula, FormulaError, parse
from clarion_lab.reproduce.points import Points, chosen, formula
from clarion_lab.reproduce.statistics import TREND, Interval

RATIO_BAND = (0.75, 1.33)  # measured ratio through reported one
VALUE_BAND = 0.10  # of normalised quantities
ALIKE = 0.10


@dataclass(frozen=True)
class Finding:
    """A condition at one place: what was compared, what was found, whether it holds."""

    place: str
    found: str
    holds: bool


@dataclass(frozen=True)
class Judged:
    """A criterion with its findings; `bound` says why its number is out of reach, `missing` why it could not
    be judged.
    """

    criterion: Criterion
    findings: tuple[Finding, ...]
    bound: str | None = None
    missing: str | None = None

    @property
    def holds(self) -> bool:
        """At every place."""
        return bool(self.findings) and all(finding.holds for finding in self.findings)


@dataclass(frozen=True)
class _Context:
    formula: Formula
    paired: bool
    confidence: float | None  # of each comparison; None: means alone are compared (quick runs)


def judge(
    criterion: Criterion, points: Points, constants: Mapping[str, float], with_intervals: bool = True
) -> Judged:
    """UserError names what is wrong with the criterion's formula."""
    try:
        node = parse(criterion.expect)
        every = _places(criterion, points, constants)
        comparisons = max(len(every) * _comparisons(node), 1)
        confidence = statistics.corrected(statistics.CONFIDENCE, comparisons) if with_intervals else None
        findings = []
        for place in every:
            at = _Context(formula(points, place, constants), criterion.paired, confidence)
            findings += _judge(node, at, _named(place))
        bound = _out_of_reach(criterion, points, constants, findings, every)
    except (UserError, TypeError, ValueError, ZeroDivisionError) as error:
        raise UserError(f'criterion "{criterion.expect}": {error}') from error
    return Judged(criterion, tuple(findings), bound)


def _places(criterion: Criterion, points: Points, constants: Mapping[str, float]) -> list[dict[str, Any]]:
    names = list(criterion.each)
    values = [chosen(points, name, criterion.each[name], constants) for name in names]
    return [dict(zip(names, each, strict=True)) for each in itertools.product(*values)]


def _named(place: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in place.items()
    )


def _comparisons(node: ast.expr) -> int:
    if isinstance(node, ast.BoolOp):
        return sum(_comparisons(each) for each in node.values)
    return len(node.ops) if isinstance(node, ast.Compare) else 0


def _judge(node: ast.expr, at: _Context, place: str) -> list[Finding]:
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        return [finding for each in node.values for finding in _judge(each, at, place)]
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        return [
            _compare(left, operator, right, at, place)
            for (left, right), operator in zip(itertools.pairwise(sides), node.ops, strict=True)
        ]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _TESTS:
        arguments = [at.formula.value(arg) for arg in node.args] if node.func.id in _EAGER else node.args
        keywords = {each.arg: at.formula.value(each.value) for each in node.keywords if each.arg}
        holds, found = _TESTS[node.func.id](at, *arguments, **keywords)
        return [Finding(place, found, holds)]
    raise FormulaError(
        f"{ast.unparse(node)}: no condition; compare with <, > or <=, >=, or use {', '.join(_TESTS)}"
    )


def _compare(left: ast.expr, operator: ast.cmpop, right: ast.expr, at: _Context, place: str) -> Finding:
    """The order of the means; of two measures the interval of the difference has to exclude 0 for < and >."""
    if isinstance(operator, (ast.Lt, ast.LtE)):
        return _compare(right, ast.Gt() if isinstance(operator, ast.Lt) else ast.GtE(), left, at, place)
    if not isinstance(operator, (ast.Gt, ast.GtE)):
        raise FormulaError("compare with <, >, <= or >=")
    high, low = (np.atleast_1d(np.asarray(at.formula.value(side), dtype=float)) for side in (left, right))
    names = ast.unparse(left), ast.unparse(right)
    strict = isinstance(operator, ast.Gt)
    means = float(np.mean(high)), float(np.mean(low))
    apart = _difference(at, high, low)
    if apart is None:
        holds = means[0] > means[1] if strict else means[0] >= means[1]
        return Finding(place, f"{_side(names[0], high)}, {_side(names[1], low)}", holds)
    holds = apart.low > 0 if strict else means[0] >= means[1]
    found = f"{names[0]} {means[0]:.4g}, {names[1]} {means[1]:.4g}, difference {_interval(apart)}"
    return Finding(place, found, bool(holds))


def _side(name: str, values: Any) -> str:
    """A side of a comparison with its value; a number speaks for itself."""
    try:
        return f"{float(name):g}"
    except ValueError:
        return f"{name} {_number(values)}"


def _interval(interval: Interval) -> str:
    if math.isnan(interval.low):
        return f"{interval.mean:.4g}"
    return f"{interval.mean:.4g} [{interval.low:.4g}, {interval.high:.4g}]"


def _number(values: Any) -> str:
    samples = np.atleast_1d(np.asarray(values, dtype=float))
    return _interval(statistics.mean_interval(samples)) if len(samples) > 1 else f"{samples[0]:.4g}"


def _mean(values: Any) -> float:
    return float(np.mean(np.asarray(values, dtype=float)))


def _alike(
    at: _Context, left: Any, right: Any, within: float = ALIKE, or_tied: float = 0
) -> tuple[bool, str]:
    """Means that differ by at most this share of the greater one, or, if that will do, by nothing certain."""
    first, second = _mean(left), _mean(right)
    apart = abs(first - second) / max(abs(first), abs(second), 1e-300)
    found = f"{_number(left)} and {_number(right)}, {100 * apart:.3g} % apart"
    certain = _difference(at, left, right)
    tied = bool(or_tied) and certain is not None and certain.low <= 0 <= certain.high
    return apart <= within or tied, found


def _difference(at: _Context, left: Any, right: Any) -> Interval | None:
    """With its interval, where there are repeats."""
    first, second = (np.atleast_1d(np.asarray(side, dtype=float)) for side in (left, right))
    if at.confidence is None or 1 in (len(first), len(second)):
        return None
    return statistics.difference(first, second, at.paired, at.confidence)


def _not_below(at: _Context, left: Any, right: Any) -> tuple[bool, str]:
    """Not certainly lower than the other."""
    apart = _difference(at, left, right)
    holds = _mean(left) >= _mean(right) if apart is None else apart.high >= 0
    return bool(holds), f"{_number(left)}, the other {_number(right)}"


def _at_least(at: _Context, left: Any, right: Any, tie: float = 0.02) -> tuple[bool, str]:
    """Not lower than the other by more than a tie."""
    return _mean(left) >= (1 - tie) * _mean(right), f"{_number(left)}, the other {_number(right)}"


def _ratio(at: _Context, value: Any, low: float, high: float | None = None) -> tuple[bool, str]:
    """A ratio whose reported value, or range, is given."""
    measured = _mean(value)
    holds = RATIO_BAND[0] * low <= measured <= RATIO_BAND[1] * (low if high is None else high)
    return holds, f"{_number(value)}, reported {low:g}" + (f" to {high:g}" if high is not None else "")


def _near(at: _Context, value: Any, reported: float, within: float = VALUE_BAND) -> tuple[bool, str]:
    """A normalised value near the reported one."""
    return abs(_mean(value) - reported) <= within, f"{_number(value)}, reported {reported:g}"


def _between(at: _Context, value: Any, low: float, high: float) -> tuple[bool, str]:
    return low <= _mean(value) <= high, f"{_number(value)}, wanted {low:g} to {high:g}"


def _known(at: _Context, value: Any) -> tuple[bool, str]:
    """Every run has the value."""
    return bool(np.all(np.isfinite(value))), _number(value)


def _shown(at: _Context, *values: Any) -> tuple[bool, str]:
    """Nothing is asked."""
    return True, ", ".join(_number(value) for value in values)


def _trend(sign: int) -> Callable[..., tuple[bool, str]]:
    def test(at: _Context, column: ast.expr, expression: ast.expr, among: Any = None) -> tuple[bool, str]:
        keywords = [] if among is None else [ast.keyword("among", ast.List([ast.Constant(x) for x in among]))]
        call = ast.Call(ast.Name("trend"), [column, expression], keywords)
        coefficient = float(at.formula.value(call))
        return sign * coefficient >= TREND, f"{ast.unparse(expression)}: rank correlation {coefficient:.2f}"

    return test


_TESTS: dict[str, Callable[..., tuple[bool, str]]] = {
    "alike": _alike,
    "at_least": _at_least,
    "not_below": _not_below,
    "ratio": _ratio,
    "near": _near,
    "between": _between,
    "known": _known,
    "shown": _shown,
    "rises": _trend(1),
    "falls": _trend(-1),
}
_EAGER = ("alike", "at_least", "not_below", "ratio", "near", "between", "known", "shown")


def _out_of_reach(
    criterion: Criterion,
    points: Points,
    constants: Mapping[str, float],
    findings: Sequence[Finding],
    every: Sequence[Mapping[str, Any]],
) -> str | None:
    """Why the number of a ratio or value that was missed cannot be reached: its ceiling is below it."""
    if criterion.ceiling is None or all(finding.holds for finding in findings):
        return None
    at = [formula(points, place, constants) for place in every]
    tops = [_mean(each.value(parse(criterion.ceiling))) for each in at]
    least = _least(parse(criterion.expect), at[0]) if at else None
    if least is None or max(tops) >= least:
        return None
    return f"{criterion.ceiling} is at most {max(tops):.3g}"


def _least(node: ast.expr, at: Formula) -> float | None:
    """The lowest value with which a ratio or a near value would hold."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) >= 2):
        return None
    if node.func.id not in ("ratio", "near"):
        return None
    reported = _mean(at.value(node.args[1]))
    return RATIO_BAND[0] * reported if node.func.id == "ratio" else reported - VALUE_BAND
