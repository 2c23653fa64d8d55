# SPDX-License-Identifier: Apache-2.0
"""Experiments: started, watched, stopped and compared."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

from integration.dashboard_browser import (
    Opener,
    Site,
)


def test_an_experiment_is_started_and_its_results_are_there(screen: Opener) -> None:
    page = screen("experimenter").open("/experiments")
    page.get_by_role("textbox", name="Settings").fill("links.bottleneck.rate: 5")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("write key=value")).to_be_visible()
    page.get_by_role("textbox", name="Settings").fill("description=goes")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("heading", name="smoke #")).to_be_visible()
    expect(page.get_by_text("complete", exact=True)).to_be_visible()
    page.get_by_text("All files").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="summary.json").click()
    assert download.value.path().read_text() == '{"state": "complete"}'


def test_an_operator_looks_at_experiments_and_starts_none(screen: Opener) -> None:
    page = screen("operator").open("/experiments")
    expect(page.get_by_text("starting needs the role experimenter")).to_be_visible()
    expect(page.get_by_role("button", name="Start")).to_have_count(0)


def test_a_running_experiment_shows_progress_and_is_stopped(screen: Opener) -> None:
    page = screen("experimenter").open("/experiments")
    page.get_by_role("textbox", name="Settings").fill('description="goes on"')
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("log")).to_contain_text("18.9 Mbit/s")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("stopped", exact=True)).to_be_visible()


def test_a_run_of_a_command_line_is_there_while_it_runs_and_afterwards(screen: Opener, site: Site) -> None:
    place = "lab-3:/home/ann/results/of/a/rather/long/path/out/geo-20260101-120000"
    number = site.do("run_elsewhere", place=place)
    page = screen("experimenter").open("/experiments")
    row = page.get_by_role("row").filter(has_text=f"#{number}")
    expect(row).to_contain_text("running")
    expect(row).to_contain_text(place)
    row.get_by_role("link", name="geo").click()
    expect(page.get_by_role("log")).to_contain_text("geo: 4.0 / 25 s")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    line = ["geo x", "90.0", *["0"] * 9]
    site.do("end_elsewhere", experiment=number, summary={"format": "clarion-batch", "rows": [line]})
    expect(page.get_by_text("complete", exact=True)).to_be_visible()
    expect(page.get_by_role("cell", name="geo x")).to_be_visible()
    page.get_by_text("All files (1)").click()
    expect(page.get_by_role("link", name="summary.json")).to_be_visible()


def test_results_are_compared_side_by_side(screen: Opener, site: Site) -> None:
    numbers = []
    for engine in ("emu", "sim"):
        numbers.append(site.do("run_elsewhere", place="lab-3:/out"))
        site.do("end_elsewhere", experiment=numbers[-1], summary=sweep(engine))
    page = screen("viewer").open(f"/experiments/compare?of={numbers[0]},{numbers[1]}")
    table = page.get_by_role("table")
    expect(table.get_by_role("row")).to_have_count(1 + 8)  # senders, rates and results
    choose(page, "Over", "links.bottleneck.rate")
    expect(page.get_by_text("mean and 95 % interval")).to_be_visible()
    choose(page, "Engines", "sim")
    expect(table.get_by_role("row")).to_have_count(1 + 4)
    choose(page, "Senders", "xcp")
    expect(table.get_by_role("row")).to_have_count(1 + 2)
    expect(table.get_by_role("row").nth(1)).to_contain_text("10 Mbit/s")
    page.wait_for_function(
        """() => {
            const element = document.querySelector('[data-chart="comparison"]');
            const drawn = element && getElement(Number(element.id.slice(1)))?.chart;
            return drawn?.getOption().series.at(-1).data.length === 2;
        }"""
    )


def sweep(engine: str) -> dict[str, Any]:
    """The summary of two senders at two rates, each three times."""
    runs = [
        {
            **{"settings": {"algorithm": sender, "links.bottleneck.rate": f"{rate} Mbit/s"}},
            **{"engine": engine, "senders": [sender], "state": "complete"},
            **{"metrics": {"goodput_bits_per_s": 1e6 * rate - 1000 * repeat}},
        }
        for sender in ("xcp", "cubic")
        for rate in (10, 20)
        for repeat in range(3)
    ]
    return {"format": "clarion-batch", "rows": [], "runs": runs}


def choose(page: Page, label: str, option: str) -> None:
    """Picks an option of a list; one of which several may be picked stays open, and is closed."""
    page.get_by_label(label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()
    page.keyboard.press("Escape")
