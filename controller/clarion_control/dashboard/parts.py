# SPDX-License-Identifier: Apache-2.0
"""The elements of all pages: HTML with the classes of static/clarion.css."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nicegui import ui
from nicegui.element import Element
from nicegui.elements.mixins.text_element import TextElement

from clarion_control.dashboard import quantities
from clarion_control.fleet.standing import Standing
from clarion_control.model import LinkState, Role, SwitchStatus

_STATES = {
    LinkState.CONNECTING: ("connecting", ""),
    LinkState.UNREACHABLE: ("unreachable", "bad"),
    LinkState.BACKUP: ("backup", "warn"),
    LinkState.SYNCING: ("syncing", "warn"),
    LinkState.IN_SYNC: ("in sync", "good"),
    LinkState.REFUSED: ("refused", "bad"),
}


def block(tag: str = "div", classes: str = "") -> Element:
    """An element without text, to be used in `with`."""
    return ui.element(tag).classes(classes)


def text(content: str, tag: str = "span", classes: str = "") -> TextElement:
    """An element with text; `.text` changes it."""
    return TextElement(tag=tag, text=content).classes(classes)


def prose(content: str, tag: str = "p", classes: str = "") -> Element:
    """Text in which `names` stand between backticks."""
    made = block(tag, classes)
    with made:
        for index, part in enumerate(content.split("`")):
            if part:
                text(part, "code" if index % 2 else "span")
    return made


def link(content: str, target: str, classes: str = "") -> TextElement:
    """A link within the dashboard."""
    return text(content, "a", classes).props(f'href="{target}"')


def card(title: str | None = None, hint: str | None = None, level: str = "h2") -> Element:
    """A box with a heading."""
    box = block("section", "card")
    if title is not None:
        with box, block(classes="card-head"):
            text(title, level)
            if hint:
                text(hint, "p", "hint")
    return box


class Badge(TextElement):
    """A state as one word; the colour only repeats the word."""

    def __init__(self, content: str, tone: str = "", *, plain: bool = False) -> None:
        super().__init__(tag="span", text=content)
        self.classes("badge" + (" plain-badge" if plain else ""))
        self._tone = ""
        self.show(content, tone)

    def show(self, content: str, tone: str) -> None:
        """Replace the text."""
        self.text = content
        if tone != self._tone:
            self.classes(add=tone, remove=self._tone)
            self._tone = tone


def state_badge(status: SwitchStatus) -> Badge:
    """A badge for the state of a switch's session."""
    return Badge(*state_words(status))


def state_words(status: SwitchStatus) -> tuple[str, str]:
    """The state of a switch as a word and a tone."""
    return _STATES[status.state]


def leader(standing: Standing, status: SwitchStatus) -> tuple[str, str]:
    """The controller that leads a switch, and whether it is this one or where the other is."""
    if status.primary is None:
        return "no primary", "as far as this controller knows"
    if status.primary == standing.me.election_id:
        return standing.me.name, "this controller"
    urls = {each.election_id: each.url for each, _ in standing.known()}
    return standing.name_of(status.primary) or "", urls.get(status.primary, "")


def state_sentence(name: str, status: SwitchStatus, primary: str | None = None) -> tuple[str, str] | None:
    """Tone and sentence for a state that needs an operator's attention; None if all is well. `primary`: the
    controller that leads.
    """
    other = "Another controller" if primary is None else f"Controller {primary}"
    reason = f": {status.reason}" if status.reason else ""
    sentences = {
        LinkState.UNREACHABLE: (
            "bad",
            f"{name} is unreachable{reason}. Figures are the last that it reported; changes are refused.",
        ),
        LinkState.REFUSED: ("bad", f"{name} refused an entry or the program{reason}."),
        LinkState.BACKUP: (
            "warn",
            f"{other} is primary for {name}. This one only watches; make changes there.",
        ),
    }
    return sentences.get(status.state)


def banner(tone: str, sentence: str) -> Element:
    """A message across the page."""
    box = block(classes=f"banner {tone}").props('role="status"')
    with box:
        text(sentence)
    return box


class Tile:
    """One large number with its name and a line below it."""

    def __init__(self, name: str, value: str = quantities.DASH, sub: str = "") -> None:
        with block(classes="tile"):
            text(name, "dt")
            self.value = text(value, "dd")
            self.sub = text(sub, "dd", "sub")

    def show(self, value: str, sub: str | None = None) -> None:
        """Replace the content."""
        self.value.text = value
        if sub is not None:
            self.sub.text = sub


class Bar:
    """A fraction as a bar with its number."""

    def __init__(self, name: str) -> None:
        with block(classes="bar"):
            track = block(classes="track").props('role="img"')
            track.props["aria-label"] = name  # it may hold what a neighbour says: quotes, for one
            with track:
                self._fill = block(classes="fill")
            self._value = text(quantities.DASH, classes="value number")

    def show(self, share: float | None) -> None:
        """Shows a fraction; above 1 the bar is full."""
        written = quantities.percent(share)
        if written != self._value.text:
            self._value.text = written
            self._fill.style(f"width: {min(max(share or 0.0, 0.0), 1.0) * 100:.1f}%")


def facts(pairs: Iterable[tuple[str, str]]) -> None:
    """Names and values, one pair a line."""
    with block("dl", "facts"):
        for name, value in pairs:
            text(name, "dt")
            text(value, "dd", "number" if value[:1].isdigit() else "")


def head_row(*names: str, ends: Iterable[str] = ()) -> None:
    """The heading row of a table; columns in `ends` hold numbers."""
    right = set(ends)
    with block("thead"), block("tr"):
        for name in names:
            text(name, "th", "end" if name in right else "").props('scope="col"')


def cell(label: str, classes: str = "") -> Element:
    """A cell; the label stands before it where the table is too wide for the screen."""
    return block("td", classes).props(f'data-label="{label}"')


def cell_text(label: str, classes: str = "", content: str = quantities.DASH) -> TextElement:
    """A cell with plain text."""
    with cell(label, classes):
        return text(content)


def empty(sentence: str) -> None:
    """A placeholder for an empty list, with a hint how to fill it."""
    text(sentence, "p", "empty")


def button(label: str, action: Any, classes: str = "button", icon: str | None = None) -> Element:
    """A button that does not send a form."""
    made = block("button", classes).props('type="button"').on("click", action)
    with made:
        if icon:
            ui.icon(icon).props('aria-hidden="true"')
        text(label)
    return made


def heading(title: str, *crumbs: tuple[str, str]) -> Element:
    """The head of a page, with the way back; to be used in `with` for what stands beside the title."""
    head = block(classes="page-head")
    with head:
        if crumbs:
            with block("nav", "crumbs").props('aria-label="Breadcrumb"'):
                for name, target in crumbs:
                    link(name, target)
                    text(" \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} ")
                text(title)
        text(title, "h1")
    return head


def role_name(role: Role) -> str:
    """The display name of a role."""
    return role.name.lower()
