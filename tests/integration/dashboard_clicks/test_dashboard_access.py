# SPDX-License-Identifier: Apache-2.0
"""Signing in and out; what an admin does: switches and tokens."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from integration.dashboard_browser import (
    PORT,
    Opener,
    Site,
    field,
)


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
