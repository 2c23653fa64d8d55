# SPDX-License-Identifier: Apache-2.0
"""Formulas in experiment files: the arithmetic of Python without names, attributes or calls but those given.

Numbers may be numpy arrays: one value per repeat, so that what is paired by its seed stays paired.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from clarion_base.errors import UserError

Value = Any  # float, str, bool, or an array of floats
# A function of a formula: gets the evaluator and its unevaluated arguments.
Function = Callable[["Formula", list[ast.expr], dict[str, ast.expr]], Value]

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


class FormulaError(UserError):
    """A formula that says nothing, with the part that does not."""


class Formula:
    """Evaluates expressions with these functions and names."""

    def __init__(self, functions: Mapping[str, Function], names: Mapping[str, Value]) -> None:
        self._functions = functions
        self.names = dict(names)

    def bound(self, names: Mapping[str, Value]) -> Formula:
        """The same with more names."""
        return Formula(self._functions, {**self.names, **names})

    def evaluate(self, text: str) -> Value:
        """The value of an expression; FormulaError names what is wrong with it."""
        try:
            return self.value(parse(text))
        except FormulaError as error:
            raise FormulaError(f'"{text}": {error}') from None
        except (TypeError, ValueError, ZeroDivisionError) as error:
            raise FormulaError(f'"{text}": {error}') from error

    def value(self, node: ast.expr) -> Value:
        """The value of a parsed expression."""
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str)):
            return node.value
        if isinstance(node, ast.Name):
            return self._name(node.id)
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            return _BINARY[type(node.op)](self.value(node.left), self.value(node.right))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self.value(node.operand)
        if isinstance(node, (ast.List, ast.Tuple)):
            return [self.value(each) for each in node.elts]
        if isinstance(node, ast.Call):
            return self._call(node)
        raise FormulaError(f"{ast.unparse(node)}: not possible in a formula")

    def _name(self, name: str) -> Value:
        if name not in self.names:
            raise FormulaError(f"{name}: unknown; use {', '.join(sorted(self.names)) or 'no names here'}")
        return self.names[name]

    def _call(self, node: ast.Call) -> Value:
        if not isinstance(node.func, ast.Name) or node.func.id not in self._functions:
            raise FormulaError(
                f"{ast.unparse(node.func)}: unknown function; use {', '.join(sorted(self._functions))}"
            )
        keywords = {each.arg: each.value for each in node.keywords if each.arg is not None}
        if len(keywords) < len(node.keywords):
            raise FormulaError(f"{ast.unparse(node)}: name every argument")
        return self._functions[node.func.id](self, node.args, keywords)


def parse(text: str) -> ast.expr:
    """The expression of a text; FormulaError if it is none."""
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError) as error:
        raise FormulaError(f"not a formula: {error}") from error


def eager(function: Callable[..., Value]) -> Function:
    """A function whose arguments are evaluated first."""

    def call(formula: Formula, args: list[ast.expr], keywords: dict[str, ast.expr]) -> Value:
        values = [formula.value(arg) for arg in args]
        return function(*values, **{name: formula.value(node) for name, node in keywords.items()})

    return call
