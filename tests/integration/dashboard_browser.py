# SPDX-License-Identifier: Apache-2.0
"""A browser in front of a dashboard, for tests to click in and to inspect."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Request,
    ViewportSize,
    sync_playwright,
)

TESTS = Path(__file__).parent.parent
CHROMIUM = shutil.which("chromium")
DEADLINE_MS = 120_000  # a page of a busy machine took more than 30 s
PHONE = ViewportSize(width=390, height=844)
DESKTOP = ViewportSize(width=1280, height=900)
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PORT = "/switches/s1/ports/1"
FORWARDING = "/switches/s2/forwarding"


class Site:
    """A dashboard in a process of its own, see dashboard_site.py."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        assert process.stdout is not None
        started = json.loads(process.stdout.readline())
        self.url: str = started["url"]
        self.tokens: dict[str, str] = started["tokens"]

    def do(self, action: str, **arguments: Any) -> Any:
        """Runs an action of Site in the dashboard's process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"do": action, "with": arguments}) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert "error" not in answer, answer["error"]
        return answer["answer"]


@contextmanager
def running_site(directory: Path) -> Iterator[Site]:
    """A site for the duration of the block; it ends with its input, so it never outlives the test."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTEST_CURRENT_TEST"}
    environment["PYTHONPATH"] = os.pathsep.join([str(TESTS), environment.get("PYTHONPATH", "")])
    with subprocess.Popen(
        [sys.executable, str(TESTS / "integration" / "dashboard_site.py"), str(directory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=directory,
    ) as process:
        try:
            yield Site(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()


@contextmanager
def running_browser() -> Iterator[Browser]:
    """Headless Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


class Screen:
    """A window of the browser, which collects errors of the page and the console."""

    def __init__(self, browser: Browser, site: Site, **options: Any) -> None:
        self.site = site
        self.context: BrowserContext = browser.new_context(viewport=DESKTOP, **options)
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(DEADLINE_MS)
        self.requests: list[str] = []
        self.problems: list[str] = []
        self.page.on("request", self._requested)
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.problems.append(f"page: {error}"))

    def open(self, path: str) -> Page:
        """Goes to a page and waits until it is drawn."""
        self.page.goto(self.site.url + path)
        self.page.locator("#content:not([inert]) h1").wait_for()
        return self.page

    def sign_in(self, token: str, path: str = "/") -> Page:
        """Signs in with the form."""
        self.page.goto(self.site.url + path)
        self.page.get_by_label("Access token").fill(token)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.locator("#content:not([inert]) h1").wait_for()
        return self.page

    def close(self) -> None:
        """Closes the window; AssertionError if it had errors."""
        self.context.close()
        assert self.problems == [], self.problems

    def _requested(self, request: Request) -> None:
        self.requests.append(request.url)
        if not request.url.startswith((self.site.url, "data:", "blob:")):
            self.problems.append(f"request to another host: {request.url}")

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"console: {message.text}")


def chart_points(page: Page, chart: str) -> list[list[Any]]:
    """The points of a chart's first line."""
    points: list[list[Any]] = page.evaluate(
        """chart => {
            const element = document.querySelector(`[data-chart="${chart}"]`);
            const drawn = element && getElement(Number(element.id.slice(1)))?.chart;
            return drawn ? drawn.getOption().series[0].data.map(each => [...each]) : [];
        }""",
        chart,
    )
    return points


Opener = Callable[..., Screen]  # a window, signed in with a role or, without one, not at all


def field(page: Page, name: str) -> Locator:
    """The input of a setting."""
    return page.locator(f'#settings input[name="{name}"]')
