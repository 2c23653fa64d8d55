# SPDX-License-Identifier: Apache-2.0
"""A site for each file of tests, and windows of one browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from integration.dashboard_browser import (
    CHROMIUM,
    DEADLINE_MS,
    Opener,
    Screen,
    Site,
    running_browser,
    running_site,
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    if CHROMIUM is None:
        pytest.skip("no chromium (apt install chromium)")
    expect.set_options(timeout=DEADLINE_MS)
    with running_site(tmp_path_factory.mktemp("dashboard")) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running_browser() as running:
        yield running


@pytest.fixture(scope="module")
def signed_in() -> dict[str, Any]:
    """Cookies by role, so that a test need not use the sign-in form."""
    return {}


@pytest.fixture
def screen(site: Site, browser: Browser, signed_in: dict[str, Any]) -> Iterator[Opener]:
    """Opens a window, signed in with a role or, without one, not at all."""
    opened: list[Screen] = []

    def open_screen(role: str | None = None, **options: Any) -> Screen:
        if role is not None and role not in signed_in:
            first = Screen(browser, site)
            first.sign_in(site.tokens[role])
            signed_in[role] = first.context.storage_state()
            first.close()
        if role is not None:
            options["storage_state"] = signed_in[role]
        opened.append(Screen(browser, site, **options))
        return opened[-1]

    yield open_screen
    for each in opened:
        each.close()


@pytest.fixture
def port(site: Site) -> None:
    """Port 1 of s1 with XCP at 100 Mbit/s and no policy."""
    site.do("reset", switch="s1", port=1)
