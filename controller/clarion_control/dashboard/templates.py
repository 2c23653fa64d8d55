# SPDX-License-Identifier: Apache-2.0
"""The pages in plain HTML: sign-in and errors."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

import jinja2
from starlette.requests import Request
from starlette.responses import HTMLResponse

STATIC = Path(__file__).parent / "static"
THEMES = ("light", "dark")
THEME_COOKIE = "clarion_theme"

_environment = jinja2.Environment(
    loader=jinja2.FileSystemLoader(STATIC), autoescape=True, undefined=jinja2.StrictUndefined
)


@functools.cache
def static_url(name: str) -> str:
    """The address of a file in static/, which changes with its content."""
    return f"/_clarion/{name}?v={hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:12]}"


def theme(request: Request) -> str | None:
    """Light or dark if chosen here, None for the system's preference."""
    chosen = request.cookies.get(THEME_COOKIE)
    return chosen if chosen in THEMES else None


def page(template: str, request: Request, status: int, **values: object) -> HTMLResponse:
    """The template as a response."""
    text = _environment.get_template(template).render(static_url=static_url, theme=theme(request), **values)
    return HTMLResponse(text, status)
