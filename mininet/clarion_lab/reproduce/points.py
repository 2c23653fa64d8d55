# SPDX-License-Identifier: Apache-2.0
"""Formulas over the points of an experiment: measures by sender and place, and over many places."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from clarion_lab.reproduce import statistics
from clarion_lab.reproduce.formula import Formula, FormulaError, Function, eager
from clarion_lab.reproduce.statistics import Samples
from clarion_lab.reproduce.table import Row

SENDER, SERIES = "sender", "series"
_BOUND = re.compile(r"\s*(<=|>=|<|>)\s*([-+0-9.eE]+)\s*$")


class Points:
    """All runs of an experiment, by series, sender and place. Of a series only seeds count for which no place
    lacks its run: what is paired stays paired.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self.left_out = unpaired(rows)  # seeds by series
        self._rows = [row for row in rows if row.seed not in self.left_out[row.series]]
        self.measures = list(dict.fromkeys(name for row in self._rows for name in row.measures))
        self.columns = list(dict.fromkeys(name for row in self._rows for name in row.values))

    def of(self, column: str, measures: Collection[str] = ()) -> list[Any]:
        """All values of a column, or the senders, in ascending order, or that of the file; only those at
        which there are runs with each of the measures.
        """
        values: list[Any]
        if column == SENDER:
            values = list(dict.fromkeys(row.sender for row in self._rows))
        elif column in self.columns:
            values = sorted({row.values[column] for row in self._rows if column in row.values})
        else:
            raise FormulaError(f"{column}: no column; use {', '.join([SENDER, *self.columns])}")
        for measure in measures:
            there = {_at(row, column) for row in self._rows if measure in row.measures}
            if None not in there:  # else it is the same at all values
                values = [value for value in values if value in there]
        return values

    def samples(self, measure: str, where: Mapping[str, Any]) -> Samples:
        """A measure of the runs of one place, in the order of their seeds. FormulaError if they are of
        several places, or of none.
        """
        found = [row for row in self._rows if measure in row.measures and _is_there(row, where)]
        named = ", ".join(f"{name} {value}" for name, value in where.items()) or "any place"
        if not found:
            raise FormulaError(f"{measure}: no run at {named}")
        others = {(row.series, row.sender, *sorted(row.values.items())) for row in found}
        if len(others) > 1:
            raise FormulaError(f"{measure}: {len(others)} places at {named}; name sender and columns")
        ordered = sorted(found, key=lambda row: row.seed)
        return np.array([row.measures[measure] for row in ordered])


def unpaired(rows: Sequence[Row]) -> dict[str, set[int]]:
    """The seeds by series that some of its places have, and others do not: their runs have failed."""
    seeds: dict[str, dict[tuple[Any, ...], set[int]]] = {}
    for row in rows:
        place = (row.sender, *sorted(row.values.items()))
        seeds.setdefault(row.series, {}).setdefault(place, set()).add(row.seed)
    found = {}
    for series, of_places in seeds.items():
        of_all = set[int].intersection(*of_places.values())
        found[series] = set[int].union(*of_places.values()) - of_all
    return found


def _at(row: Row, column: str) -> Any:
    return row.sender if column == SENDER else row.values.get(column)


def _is_there(row: Row, where: Mapping[str, Any]) -> bool:
    for name, value in where.items():
        if name == SENDER:
            here: Any = row.sender
        elif name == SERIES:
            here = row.series
        elif name in row.values:
            here = row.values[name]
        else:
            continue  # of another series
        if here != value:
            return False
    return True


def formula(points: Points, place: Mapping[str, Any], constants: Mapping[str, float]) -> Formula:
    """The formula of a criterion at a place: `measure("sender", column=value)` gives its runs there."""
    functions: dict[str, Function] = {name: _reader(points, name) for name in points.measures}
    functions |= {name: _over(points, reduce) for name, reduce in _REDUCTIONS.items()}
    functions |= {
        "slope_over": _slope_over(points),
        "slope": _along(points, lambda places, values: statistics.line(places, values).slope),
        "r_squared": _along(points, lambda places, values: statistics.line(places, values).r_squared),
        "trend": _along(points, statistics.trend),
        "where_lowest": _along(points, lambda places, values: places[int(np.argmin(values))]),
        "where_above": _where(points, lambda mean, bound: mean > bound),
        "where_below": _where(points, lambda mean, bound: mean < bound),
        "count": eager(len),
        "correlation": _correlation(points),
        "abs": eager(abs),
        "sqrt": eager(np.sqrt),
        "average": eager(_average),
        "lesser": eager(np.minimum),
        "greater": eager(np.maximum),
    }
    return Formula(functions, {**constants, **place})


def _average(values: Any) -> float:
    return float(np.nanmean(values))


def _reader(points: Points, measure: str) -> Function:
    def read(formula: Formula, args: list[ast.expr], keywords: dict[str, ast.expr]) -> Samples:
        here = {name: value for name, value in formula.names.items() if name in (SENDER, *points.columns)}
        if len(args) > 1:
            raise FormulaError(f"{measure}: takes a sender, and columns by name")
        if args:
            here[SENDER] = formula.value(args[0])
        given = {name: formula.value(node) for name, node in keywords.items()}
        unknown = [name for name in given if name not in (SENDER, SERIES, *points.columns)]
        if unknown:
            raise FormulaError(f"{unknown[0]}: no column; use {', '.join([SENDER, *points.columns])}")
        return points.samples(measure, {**here, **given})

    return read


_REDUCTIONS: dict[str, Callable[[Samples], Any]] = {
    "mean_over": lambda values: np.mean(values, axis=0),
    "lowest_over": lambda values: np.min(values, axis=0),
    "highest_over": lambda values: np.max(values, axis=0),
    "median_over": lambda values: np.median(values, axis=0),
    "first_over": lambda values: values[0],  # of a column: at its least value
    "last_over": lambda values: values[-1],
}


def _spread(
    points: Points, formula: Formula, args: list[ast.expr], keywords: dict[str, ast.expr], count: int
) -> tuple[list[Any], list[list[Samples]]]:
    """The values of a column, and each of `count` expressions there."""
    if len(args) != count + 1:
        raise FormulaError(f"takes a column and {count} expression{'s' * (count > 1)}")
    column = formula.value(args[0])
    among = _among(points, formula, column, args[1:], keywords)
    bound = [formula.bound({column: value}) for value in among]
    return among, [[np.atleast_1d(each.value(arg)) for each in bound] for arg in args[1:]]


def _among(
    points: Points, formula: Formula, column: str, args: list[ast.expr], keywords: dict[str, ast.expr]
) -> list[Any]:
    """The values that are asked for, or all."""
    if "among" in keywords:
        wanted: list[Any] = formula.value(keywords["among"])
        return wanted
    return points.of(column, _used(points, args))


def _used(points: Points, expressions: Sequence[ast.expr]) -> set[str]:
    """The measures that expressions take: a series of its own may have other senders and places."""
    nodes = [node for each in expressions for node in ast.walk(each)]
    return {node.id for node in nodes if isinstance(node, ast.Name) and node.id in points.measures}


def _over(points: Points, reduce: Callable[[Samples], Any]) -> Function:
    """f("column", expression, among=[...]): one value per repeat."""

    def call(formula: Formula, args: list[ast.expr], keywords: dict[str, ast.expr]) -> Any:
        _, (values,) = _spread(points, formula, args, keywords, 1)
        return reduce(_same_length(values))

    return call


def _slope_over(points: Points) -> Function:
    """slope_over("column", expression, among=[...]): of the straight line through each repeat's values."""

    def call(formula: Formula, args: list[ast.expr], keywords: dict[str, ast.expr]) -> Any:
        places, (values,) = _spread(points, formula, args, keywords, 1)
        repeats = _same_length(values).T
        return np.array([statistics.line(places, list(each)).slope for each in repeats])

    return call


def _along(points: Points, take: Callable[[list[float], list[float]], float]) -> Function:
    """f("column", expression, among=[...]): a number of the means along the column."""

    def call(formula: Formula, args: list[ast.expr], keywords: dict[str, ast.expr]) -> float:
        places, (values,) = _spread(points, formula, args, keywords, 1)
        return float(take(list(places), [float(np.mean(each)) for each in values]))

    return call


def _where(points: Points, is_there: Callable[[float, float], bool]) -> Function:
    """f("column", expression, bound, among=[...]): those values of the column where the mean is there."""

    def call(formula: Formula, args: list[ast.expr], keywords: dict[str, ast.expr]) -> list[Any]:
        if len(args) != 3:
            raise FormulaError("takes a column, an expression and a bound")
        places, (values,) = _spread(points, formula, args[:2], keywords, 1)
        bound = float(formula.value(args[2]))
        means = [float(np.mean(each)) for each in values]
        return [place for place, mean in zip(places, means, strict=True) if is_there(mean, bound)]

    return call


def _correlation(points: Points) -> Function:
    """correlation("column", one, other): of the means along the column."""

    def call(formula: Formula, args: list[ast.expr], keywords: dict[str, ast.expr]) -> float:
        _, (left, right) = _spread(points, formula, args, keywords, 2)
        means = [[float(np.mean(each)) for each in side] for side in (left, right)]
        return statistics.correlation(*means)

    return call


def _same_length(values: Sequence[Samples]) -> Samples:
    shortest = min(len(each) for each in values)
    return np.array([each[:shortest] for each in values])


def chosen(
    points: Points, column: str, wanted: Any, constants: Mapping[str, float] | None = None
) -> list[Any]:
    """The values of a column that a criterion is for: `all`, a list, a bound such as "> 0", or a formula that
    gives a list.
    """
    values = points.of(column)
    if wanted == "all":
        return values
    if isinstance(wanted, list):
        return [value for value in values if value in wanted]
    found = _BOUND.match(str(wanted))
    if found is None:
        listed = formula(points, {}, constants or {}).evaluate(str(wanted))
        if not isinstance(listed, list):
            reason = 'use all, a list, a bound such as "> 0", or where_above(...)'
            raise FormulaError(f'{column}: "{wanted}": {reason}')
        return listed
    bound = float(found[2])
    compare = {"<": lambda x: x < bound, ">": lambda x: x > bound}
    compare |= {"<=": lambda x: x <= bound, ">=": lambda x: x >= bound}
    return [value for value in values if compare[found[1]](value)]
