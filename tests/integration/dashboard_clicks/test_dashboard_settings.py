# SPDX-License-Identifier: Apache-2.0
"""Forwarding, settings and policies: who may change them, and what becomes of two changes at a time."""

from __future__ import annotations

from playwright.sync_api import expect

from integration.dashboard_browser import (
    FORWARDING,
    PORT,
    Opener,
    Site,
    field,
)
from integration.waiting import wait_until


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


def test_an_empty_table_does_not_take_a_switch_over(screen: Opener, site: Site) -> None:
    page = screen("operator").open("/switches/s1/forwarding")
    expect(page.get_by_text("Nothing is set: the switch forwards by entries of others")).to_be_visible()
    expect(page.get_by_role("button", name="Leave it alone")).to_be_hidden()
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("with neither all frames are dropped")).to_be_visible()
    assert site.do("forwarding", switch="s1") is None


def test_a_viewer_does_not_change_forwarding(screen: Opener) -> None:
    page = screen("viewer").open(FORWARDING)
    expect(page.get_by_text("changes need the role operator")).to_be_visible()
    expect(page.get_by_role("button", name="Apply")).to_have_count(0)


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
