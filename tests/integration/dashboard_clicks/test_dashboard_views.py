# SPDX-License-Identifier: Apache-2.0
"""Live figures, the audit, and how pages look."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from integration.dashboard_browser import (
    FORWARDING,
    PHONE,
    PORT,
    Opener,
    Site,
    chart_points,
    field,
)

PAGES = (
    *("/", "/topology", "/switches/s1", FORWARDING, PORT, "/tuner"),
    *("/experiments", "/experiments/compare", "/audit", "/tokens"),
)


def test_charts_and_tiles_follow_the_reports(screen: Opener, site: Site, port: None) -> None:
    page = screen("viewer").open(PORT)
    charts = page.locator("[data-chart] svg")
    expect(charts).to_have_count(5)
    for report in range(1, 4):
        before = len(chart_points(page, "utilisation"))
        site.do("report", switch="s1", port=1, input_bps=90e6 + report * 1e6, lost_on_wire=10 * report)
        tile = page.locator(".tile").filter(has_text="Utilisation")
        expect(tile).to_contain_text(f"{90 + report}.0 %")
        page.wait_for_function(
            """before => {
                const id = document.querySelector('[data-chart="utilisation"]').id.slice(1);
                return getElement(Number(id)).chart.getOption().series[0].data.length > before;
            }""",
            arg=before,
        )
    assert [value for _, value in chart_points(page, "utilisation")][-1] == 93e6
    expect(page.locator(".tile").filter(has_text="Lost on wire")).to_contain_text("30 packets in all")
    # The same for a page opened later: from the store.
    page.reload()
    page.locator("#content:not([inert]) h1").wait_for()
    page.wait_for_function("document.querySelectorAll('[data-chart] svg path').length > 0")
    page.wait_for_function(
        """() => {
            const element = document.querySelector('[data-chart="utilisation"]');
            const chart = element && getElement(Number(element.id.slice(1)))?.chart;
            return (chart?.getOption()?.series[0].data.length ?? 0) > 0;
        }"""
    )


def test_the_overview_shows_figures_and_what_needs_attention(screen: Opener, site: Site, port: None) -> None:
    page = screen("viewer").open("/")
    row = page.get_by_label("Switch s1").get_by_role("row").filter(has_text="Port 1")
    site.do("report", switch="s1", port=1, input_bps=42e6, queue_bytes=123_000)
    expect(row).to_contain_text("42.0 %")
    expect(row).to_contain_text("123 kB")
    expect(row).to_contain_text("XCP on")
    try:
        site.do("leave", switch="s2")
        expect(page.get_by_text("s2 is unreachable")).to_be_visible()
        expect(page.get_by_label("Switch s2")).to_contain_text("unreachable")
    finally:
        site.do("come_back", switch="s2")
    expect(page.get_by_text("s2 is unreachable")).to_have_count(0)


def test_the_topology_is_drawn_and_follows_what_is_heard(screen: Opener, site: Site, port: None) -> None:
    page = screen("viewer").open("/topology")
    expect(page.get_by_text("No port hears a neighbour")).to_be_visible()
    odd = """h1 "<b>" it's"""
    site.do("hear", switch="s1", port=2, chassis="s2", its_port="3", ours=True)
    site.do("hear", switch="s2", port=3, chassis="s1", its_port="2", ours=True)
    site.do("hear", switch="s1", port=1, chassis=odd, its_port="eth0", ours=False)
    try:
        pair = page.get_by_role("row").filter(has_text="s2 port 3")
        expect(pair).to_contain_text("proven")
        expect(pair).to_contain_text("both ways")
        expect(pair.get_by_role("link", name="s2 port 3")).to_have_attribute("href", "/switches/s2/ports/3")
        expect(pair.get_by_role("img", name="Utilisation from s1 port 2 to s2 port 3")).to_be_visible()
        bridge = page.get_by_role("row").filter(has_text="eth0 is not a Clarion port")
        expect(bridge).to_contain_text("disproved")
        expect(bridge).to_contain_text(odd)
        drawn = page.locator(".topology svg")
        for name in ("s1", "s2", odd):
            expect(drawn.locator("text", has_text=name)).to_be_visible()
        site.do("forget", switch="s1", port=1, chassis=odd, its_port="eth0")
        expect(bridge).to_have_count(0)
        expect(drawn.locator("text", has_text=odd)).to_have_count(0)
    finally:
        site.do("forget", switch="s1", port=2, chassis="s2", its_port="3")
        site.do("forget", switch="s2", port=3, chassis="s1", its_port="2")
        site.do("forget", switch="s1", port=1, chassis=odd, its_port="eth0")
    expect(page.get_by_text("No port hears a neighbour")).to_be_visible()


def test_a_backup_says_so(screen: Opener, site: Site, port: None) -> None:
    page = screen("operator").open(PORT)
    try:
        site.do("stand", switch="s1", primary=False)
        expect(page.get_by_text("Controller election id 2 is primary for s1")).to_be_visible()
        field(page, "xcp.gamma").fill("0.3")
        page.get_by_role("button", name="Apply").click()
        expect(page.get_by_text("another controller (election id 2) is primary")).to_be_visible()
        other = screen("operator").open("/switches/s1")
        expect(other.locator(".tile", has_text="Led by")).to_contain_text("election id 2")
        all_of_them = screen("operator").open("/")
        expect(all_of_them.locator(".tile", has_text="This controller leads")).to_contain_text(
            "election id 2: 1"
        )
    finally:
        site.do("stand", switch="s1", primary=True)
    expect(page.get_by_text("is primary for s1")).to_have_count(0)


def test_a_port_has_its_name_beside_its_number(screen: Opener) -> None:
    page = screen("viewer").open("/switches/s2")
    page.get_by_role("link", name="Port 1 (left)").first.click()
    expect(page.get_by_role("heading", name="Port 1 (left)")).to_be_visible()


def test_the_audit_tells_who_changed_what(screen: Opener, site: Site, port: None) -> None:
    site.do("change", switch="s1", port=1, changes={"xcp": {"gamma": 0.15}})
    page = screen("operator").open("/audit?switch=s1&actor=olga")
    newest = page.locator("[data-audit]").first
    expect(newest).to_contain_text("olga")
    expect(newest).to_contain_text("gamma: 0.1 → 0.15")
    expect(screen("viewer").open("/audit").get_by_text("for operators and admins")).to_be_visible()


@pytest.mark.parametrize("role", ["operator", "admin"])
def test_no_page_is_wider_than_a_phone(screen: Opener, site: Site, port: None, role: str) -> None:
    site.do("report", switch="s1", port=1)
    shown = screen(role)
    shown.page.set_viewport_size(PHONE)
    for path in PAGES:
        page = shown.open(path)
        page.locator("footer").wait_for()
        widths = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        assert widths[0] <= widths[1], path
        expect(page.get_by_role("navigation", name="Main")).to_be_in_viewport()


def test_colours_follow_the_system_or_the_choice(screen: Opener) -> None:
    shown = screen("viewer", color_scheme="dark")
    page = shown.open("/")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(14, 19, 24)"
    page.get_by_role("button", name="Colours: as the system").click()
    expect(page.get_by_role("button", name="Colours: light")).to_be_visible()
    page.wait_for_function(f"{ground} === 'rgb(244, 246, 248)'")
    page = shown.open("/")
    assert page.evaluate(ground) == "rgb(244, 246, 248)"


def test_the_keyboard_reaches_content_first_and_everything_has_a_name(screen: Opener) -> None:
    page = screen("operator").open(PORT)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('button, a[href], input, select, textarea')]
            .filter(each => each.type !== 'hidden')
            .filter(each => !(each.textContent.trim() || each.ariaLabel || each.title || each.labels?.length
                || each.closest('[aria-label], [role=switch]') || each.closest('label')))
            .map(each => each.outerHTML.slice(0, 120))"""
    )
    assert nameless == []
