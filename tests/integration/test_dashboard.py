# SPDX-License-Identifier: Apache-2.0
"""The dashboard, by clicks in headless Chromium: views and rights of each role, and live updates."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from integration.dashboard_browser import (
    CHROMIUM,
    DEADLINE_MS,
    PHONE,
    Screen,
    Site,
    chart_points,
    running_browser,
    running_site,
)
from integration.waiting import wait_until

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium (apt install chromium)")

PORT = "/switches/s1/ports/1"
FORWARDING = "/switches/s2/forwarding"
PAGES = (
    *("/", "/topology", "/switches/s1", FORWARDING, PORT, "/tuner"),
    *("/experiments", "/experiments/compare", "/audit", "/tokens"),
)
Opener = Callable[..., Screen]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
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


# Signing in and out.


def test_a_wrong_token_is_refused_and_a_right_one_leads_to_the_page_asked_for(screen: Opener) -> None:
    shown = screen()
    page = shown.page
    page.goto(f"{shown.site.url}{PORT}")
    page.get_by_label("Access token").fill("clarion_wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("not valid")
    shown.problems.clear()  # the browser calls the status 401 an error

    page.get_by_label("Access token").fill(shown.site.tokens["viewer"])
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Port 1")).to_be_visible()
    expect(page.locator("#who")).to_have_text("viewer · viewer")
    assert page.url == f"{shown.site.url}{PORT}"
    assert not any(shown.site.tokens["viewer"] in url for url in shown.requests)
    (cookie,) = shown.context.cookies()
    assert (cookie["name"], cookie["httpOnly"], cookie["sameSite"]) == ("clarion_session", True, "Lax")
    assert shown.site.tokens["viewer"] not in cookie["value"]


def test_who_signs_in_with_a_token_that_expires_soon_is_told(screen: Opener) -> None:
    shown = screen()
    page = shown.sign_in(shown.site.do("token", name="soon", role="VIEWER", days=14))
    expect(page.locator("#expires")).to_have_text("Token expires in 13 days")
    page = (other := screen()).sign_in(other.site.tokens["viewer"])
    expect(page.locator("#who")).to_be_visible()
    expect(page.locator("#expires")).to_have_count(0)


def test_signing_out_ends_the_session_for_good(screen: Opener) -> None:
    shown = screen()
    page = shown.sign_in(shown.site.tokens["viewer"])
    stolen = shown.context.storage_state()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Access token")).to_be_visible()

    other = screen(storage_state=stolen)
    other.page.goto(other.site.url)
    expect(other.page.get_by_label("Access token")).to_be_visible()


def test_a_sign_in_link_works_once_and_leaves_no_trace(screen: Opener, site: Site) -> None:
    link = site.do("link", base=site.url, name="operator")
    code = link.partition("code=")[2]
    shown = screen()
    shown.page.goto(link)
    expect(shown.page.locator("#who")).to_have_text("operator · operator")
    assert not any(code in url.partition("#")[0] for url in shown.requests)
    assert code not in shown.page.url

    second = screen()
    second.page.goto(link)
    expect(second.page.get_by_role("alert")).to_contain_text("used already")
    second.problems.clear()  # the browser calls the status 401 an error


def test_a_revoked_token_changes_nothing_any_more(screen: Opener, site: Site, port: None) -> None:
    shown = screen()
    page = shown.sign_in(site.do("token", name="leaver", role="OPERATOR"), PORT)
    field(page, "xcp.gamma").fill("0.2")
    site.do("revoke", name="leaver")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_label("Access token")).to_be_visible()
    assert site.do("settings", switch="s1", port=1)["xcp"]["gamma"] == 0.1


def test_an_admin_adds_and_removes_a_switch(screen: Opener) -> None:
    page = screen("admin").open("/")
    page.get_by_role("button", name="Add switch").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("s9")
    dialog.get_by_label("Address").fill("127.0.0.1")
    dialog.get_by_label("Ports").fill("1, 3-4")
    dialog.get_by_role("button", name="Add").click()
    expect(dialog.get_by_text("use HOST:PORT")).to_be_visible()
    dialog.get_by_label("Address").fill("192.0.2.7:9559")
    dialog.get_by_role("button", name="Add").click()
    expect(dialog.get_by_text("is missing, and 192.0.2.7:9559 is not this machine")).to_be_visible()
    dialog.get_by_label("Address").fill("127.0.0.1:9")
    dialog.get_by_role("button", name="Add").click()
    expect(page.get_by_role("heading", name="s9")).to_be_visible()
    expect(page.get_by_text("s9 is unreachable")).to_be_visible()
    expect(page.get_by_role("link", name="Port 4").first).to_be_visible()

    page.get_by_role("button", name="Change").click()
    expect(dialog.get_by_label("Address")).to_have_value("127.0.0.1:9")
    dialog.get_by_label("Address").fill("127.0.0.1:10")
    dialog.get_by_role("button", name="Change").click()
    expect(page.get_by_text("127.0.0.1:10", exact=True)).to_be_visible()

    page.get_by_role("button", name="Remove switch").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    expect(page.get_by_label("Switch s1")).to_be_visible()
    expect(page.get_by_label("Switch s9")).to_have_count(0)
    expect(screen("operator").open("/").get_by_role("button", name="Add switch")).to_have_count(0)


# Tokens.


def test_an_admin_makes_and_revokes_a_token(screen: Opener) -> None:
    page = screen("admin").open("/")
    page.get_by_role("link", name="Tokens").click()
    expect(page.get_by_role("heading", name="New token")).to_be_visible()
    page.get_by_label("Name", exact=True).fill("oidc:ann")
    expect(page.get_by_text("is for people who sign in by OpenID Connect")).to_be_visible()
    page.get_by_label("Name", exact=True).fill("grafana")
    page.get_by_label("Expires").fill("soon")
    expect(page.get_by_text("write a time such as 30m, 12h, 7d or 4w, or never")).to_be_visible()
    page.get_by_label("Expires").fill("10d")
    page.keyboard.press("Enter")
    text = page.locator("#new-token").inner_text()
    row = page.get_by_role("row").filter(has_text="grafana")
    expect(row.get_by_text(re.compile(r"in (9|10)\sd"))).to_be_visible()
    other = screen()
    expect(other.sign_in(text).locator("#who")).to_have_text("grafana · viewer")

    page.get_by_role("button", name="Done").click()
    expect(page.locator("#new-token")).to_have_count(0)
    page.get_by_role("button", name="Revoke grafana").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(row).to_have_count(0)
    page.get_by_role("switch", name="Revoked ones, too").click()
    expect(row.get_by_text("revoked", exact=True)).to_be_visible()
    other.page.goto(other.site.url)
    expect(other.page.get_by_label("Access token")).to_be_visible()


def test_tokens_are_for_admins(screen: Opener) -> None:
    page = screen("operator").open("/tokens")
    expect(page.get_by_text("Tokens are for admins")).to_be_visible()
    expect(page.get_by_role("link", name="Tokens")).to_have_count(0)
    expect(page.get_by_role("button", name="Create token")).to_have_count(0)


# Forwarding.


def test_an_operator_changes_forwarding(screen: Opener, site: Site) -> None:
    site.do("forward", switch="s2", addresses={"02:00:00:00:00:01": 1}, flood_ports=[1, 2, 3])
    page = screen("operator").open("/switches/s2")
    page.get_by_role("link", name="Change forwarding").click()
    expect(page.get_by_label("Ethernet address")).to_have_value("02:00:00:00:00:01")
    page.get_by_role("button", name="Add entry").click()
    page.get_by_label("Ethernet address").nth(1).fill("02:00:00:00:00:02")
    page.get_by_label("Port", exact=True).nth(1).fill("7")
    expect(page.get_by_text("the switch has no such port; it has 1, 2, 3")).to_be_visible()
    page.get_by_label("Port", exact=True).nth(1).fill("2")
    page.get_by_label("Ports for all other addresses").fill("1-2")
    page.keyboard.press("Enter")
    expect(page.get_by_text("s2 forwarding: applied")).to_be_visible()
    assert site.do("forwarding", switch="s2") == {
        "addresses": {"02:00:00:00:00:01": 1, "02:00:00:00:00:02": 2},
        "flood_ports": [1, 2],
    }
    page.get_by_role("button", name="Remove this entry").first.click()
    page.get_by_role("button", name="Apply").click()
    left = {"02:00:00:00:00:02": 2}
    wait_until(lambda: site.do("forwarding", switch="s2")["addresses"] == left, "the entry stays")


def test_forwarding_that_somebody_else_changed_is_not_overwritten_unseen(screen: Opener, site: Site) -> None:
    site.do("forward", switch="s2", addresses={"02:00:00:00:00:01": 1}, flood_ports=[1])
    page = screen("operator").open(FORWARDING)
    page.get_by_label("Port", exact=True).fill("2")
    site.do(
        "forward", switch="s2", addresses={"02:00:00:00:00:01": 1, "02:00:00:00:00:09": 3}, flood_ports=[1]
    )
    expect(page.get_by_text("02:00:00:00:00:09: none → port 3")).to_be_visible()
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("read it again")).to_be_visible()
    assert site.do("forwarding", switch="s2")["addresses"]["02:00:00:00:00:01"] == 1
    page.get_by_role("button", name="Keep my edits").click()
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("s2 forwarding: applied")).to_be_visible()
    assert site.do("forwarding", switch="s2")["addresses"] == {"02:00:00:00:00:01": 2, "02:00:00:00:00:09": 3}


def test_a_viewer_does_not_change_forwarding(screen: Opener) -> None:
    page = screen("viewer").open(FORWARDING)
    expect(page.get_by_text("changes need the role operator")).to_be_visible()
    expect(page.get_by_role("button", name="Apply")).to_have_count(0)


# Settings.


def field(page: Page, name: str) -> Locator:
    return page.locator(f'#settings input[name="{name}"]')


def test_a_viewer_sees_settings_and_cannot_change_them(screen: Opener, port: None) -> None:
    page = screen("viewer").open(PORT)
    expect(field(page, "xcp.capacity_bps")).to_have_value("100 Mbit/s")
    expect(field(page, "xcp.alpha")).not_to_be_editable()
    expect(page.get_by_role("button", name="Apply")).to_have_count(0)
    expect(page.get_by_role("button", name="Switch on")).to_have_count(0)
    expect(page.get_by_text("changes need the role operator")).to_be_visible()


def test_an_operator_sets_alpha_and_the_switch_gets_it(screen: Opener, site: Site, port: None) -> None:
    page = screen("operator").open(PORT)
    field(page, "xcp.alpha").fill("0.3")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("s1 port 1: applied")).to_be_visible()
    # Beta follows: 0.3^2 * sqrt 2 = 0.127279.
    expect(field(page, "xcp.beta")).to_have_value("0.127279")
    xcp = site.do("settings", switch="s1", port=1)["xcp"]
    assert (xcp["alpha"], round(xcp["beta"], 6)) == (0.3, 0.127279)


def test_xcp_is_switched_on_with_a_capacity(screen: Opener, site: Site) -> None:
    page = screen("operator").open("/switches/s2/ports/2")
    page.get_by_role("switch", name="XCP").click()
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("give the capacity, such as 100 Mbit/s")).to_be_visible()
    field(page, "xcp.capacity_bps").fill("2.5 Gbit/s")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("s2 port 2: applied")).to_be_visible()
    assert site.do("settings", switch="s2", port=2)["xcp"]["capacity_bps"] == 2_500_000_000


def test_an_invalid_value_is_explained_and_not_sent(screen: Opener, site: Site, port: None) -> None:
    page = screen("operator").open(PORT)
    field(page, "xcp.alpha").fill("0.9")
    message = page.get_by_text("must be above 0 and below 0.5553")
    expect(message).to_be_visible()  # while typing
    page.get_by_role("button", name="Apply").click()
    expect(message.first).to_be_visible()
    field(page, "xcp.capacity_bps").fill("100 apples")
    expect(page.get_by_text("unknown unit; use bit/s")).to_be_visible()
    assert site.do("settings", switch="s1", port=1)["xcp"]["alpha"] == 0.4


def test_somebody_elses_change_is_shown_and_lost_by_nobody(screen: Opener, site: Site, port: None) -> None:
    page = screen("operator").open(PORT)
    field(page, "xcp.alpha").fill("0.35")
    expect(field(page, "xcp.alpha")).to_have_value("0.35")
    site.do("change", switch="s1", port=1, changes={"xcp": {"gamma": 0.25}})
    notice = page.get_by_role("alert").filter(has_text="Somebody else changed this port")
    expect(notice).to_contain_text("Gamma: 0.1 → 0.25")

    page.get_by_role("button", name="Keep my edits").click()
    expect(notice).to_have_count(0)
    expect(field(page, "xcp.gamma")).to_have_value("0.25")
    expect(field(page, "xcp.alpha")).to_have_value("0.35")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("s1 port 1: applied")).to_be_visible()
    xcp = site.do("settings", switch="s1", port=1)["xcp"]
    assert (xcp["alpha"], xcp["gamma"]) == (0.35, 0.25)


# The tuner.


def test_a_policy_is_switched_on_held_and_resumed(screen: Opener, site: Site, port: None) -> None:
    page = screen("operator").open(PORT)
    card = page.locator('[data-policy="convergence"]')
    card.get_by_role("button", name="Switch on").click()
    expect(card.get_by_role("button", name="Switch off")).to_be_visible()
    assert site.do("policy", switch="s1", port=1, name="convergence") == "active"

    site.do("change", switch="s1", port=1, changes={"xcp": {"gamma": 0.2}})
    expect(card).to_contain_text("held")
    expect(card).to_contain_text("olga set gamma by hand")
    card.get_by_role("button", name="Resume").click()
    expect(card.get_by_role("button", name="Resume")).to_have_count(0)
    assert site.do("policy", switch="s1", port=1, name="convergence") == "active"


def test_a_policys_parameters_are_checked(screen: Opener, site: Site, port: None) -> None:
    page = screen("operator").open(PORT)
    card = page.locator('[data-policy="noise"]')
    card.get_by_text("Parameters", exact=True).click()
    card.locator('input[name="threshold"]').fill("1")
    card.get_by_role("button", name="Save parameters").click()
    expect(card.get_by_text("use a number from 3 to 100")).to_be_visible()
    assert site.do("policy", switch="s1", port=1, name="noise") in (None, "off")


def test_a_decision_shows_its_evidence_and_is_undone(screen: Opener, site: Site, port: None) -> None:
    number = site.do(
        "decide",
        switch="s1",
        port=1,
        policy="stability",
        changes={"xcp": {"alpha": 0.25}},
        summary="Round trips spread widely, so alpha goes down.",
        evidence={"avg_rtt_us": 570000.0, "utilisation_share": 0.96},
    )
    page = screen("operator").open("/tuner")
    decision = page.locator(f'[data-decision="{number}"]')
    expect(decision).to_contain_text("alpha: 0.4 → 0.25")
    decision.get_by_text("Evidence").click()
    expect(decision.get_by_text("570 ms")).to_be_visible()
    expect(decision.get_by_text("96.0 %")).to_be_visible()
    decision.get_by_role("button", name="Undo").click()
    expect(decision).to_contain_text("undone by operator")
    assert site.do("settings", switch="s1", port=1)["xcp"]["alpha"] == 0.4


# Live figures.


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


# Experiments and audit.


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


# How it looks.


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
