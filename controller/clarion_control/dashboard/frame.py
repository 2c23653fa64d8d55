# SPDX-License-Identifier: Apache-2.0
"""The frame of every page: navigation, the signed-in user, light or dark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from nicegui import context, ui
from starlette.requests import Request

from clarion_control.dashboard import parts, templates
from clarion_control.model import Actor, Role
from clarion_control.services.tokens import days

NAVIGATION = (
    ("/", "Overview", "lan", Role.VIEWER),
    ("/topology", "Topology", "hub", Role.VIEWER),
    ("/tuner", "Tuner", "tune", Role.VIEWER),
    ("/experiments", "Experiments", "science", Role.VIEWER),
    ("/audit", "Audit", "receipt_long", Role.VIEWER),
    ("/tokens", "Tokens", "key", Role.ADMIN),
)
_NEXT_THEME = {None: "light", "light": "dark", "dark": None}
_THEME_ICONS = {None: "brightness_auto", "light": "light_mode", "dark": "dark_mode"}
_THEME_NAMES = {None: "as the system", "light": "light", "dark": "dark"}


@contextmanager
def frame(request: Request, actor: Actor, area: str, left_us: int | None = None) -> Iterator[None]:
    """Draws the frame around elements made inside `with`; `area` is the navigation entry to highlight, and
    `left_us` the time until the user's token expires, if that is soon.
    """
    theme = templates.theme(request)
    _head(theme)
    parts.link("Skip to content", "#content", "skip")
    with parts.block("header", "topbar"):
        with parts.block("a", "brand").props('href="/"'):
            parts.block("img").props(f'src="{templates.static_url("icon.svg")}" alt="" width=26 height=26')
            parts.text("Clarion")
        with parts.block("nav", "nav").props('aria-label="Main"'):
            for target, name, icon, role in NAVIGATION:
                if actor.role < role:
                    continue
                here = ' aria-current="page"' if target == area else ""
                with parts.block("a").props(f'href="{target}"{here}'):
                    ui.icon(icon).props('aria-hidden="true"')
                    parts.text(name)
        with parts.block(classes="user"):
            parts.Badge(f"{actor.name} · {parts.role_name(actor.role)}", plain=True).props('id="who"')
            if left_us is not None:
                parts.Badge(f"Token expires in {days(left_us)}", "warn").props('id="expires"')
            _theme_button(theme)
            with parts.block("form").props('method="post" action="/logout"'):
                button = parts.block("button", "icon-button").props(
                    'type="submit" aria-label="Sign out" title="Sign out"'
                )
                with button:
                    ui.icon("logout").props('aria-hidden="true"')
    # Until the browser's socket is connected no input reaches the server, so the page is inert.
    content = parts.block(classes="main").props('id="content" tabindex="-1" inert')
    context.client.on_connect(lambda: content.props(remove="inert"))
    with content:
        yield
    with parts.block("footer", "foot"):
        parts.text("All times are UTC.")


def _head(theme: str | None) -> None:
    ui.add_head_html(f'<link rel="icon" href="{templates.static_url("icon.svg")}">')
    ui.add_head_html(f'<link rel="stylesheet" href="{templates.static_url("clarion.css")}">')
    ui.add_head_html(f'<script src="{templates.static_url("clarion.js")}"></script>')
    if theme is not None:
        ui.add_head_html(f'<script>document.documentElement.dataset.theme = "{theme}"</script>')


def _theme_button(theme: str | None) -> None:
    """A button that cycles through light, dark and the system's preference."""
    dark = ui.dark_mode(value=None if theme is None else theme == "dark")
    shown = theme

    def name() -> str:
        return f'aria-label="Colours: {_THEME_NAMES[shown]}" title="Colours: {_THEME_NAMES[shown]}"'

    def turn() -> None:
        nonlocal shown
        shown = _NEXT_THEME[shown]
        dark.value = None if shown is None else shown == "dark"
        icon.name = _THEME_ICONS[shown]
        button.props(name())
        ui.run_javascript(f"clarion.theme({shown!r})" if shown else "clarion.theme(null)")

    button = parts.block("button", "icon-button").props(f'type="button" {name()}').on("click", turn)
    with button:
        icon = ui.icon(_THEME_ICONS[shown]).props('aria-hidden="true"')
