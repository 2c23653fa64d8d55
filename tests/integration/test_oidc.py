# SPDX-License-Identifier: Apache-2.0
"""Signing in to the dashboard at a real OpenID Connect provider: by clicks, and as an attacker would."""

from __future__ import annotations

import contextlib
import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
from playwright.sync_api import expect

from integration.controller_net import PATIENCE_S, Process
from integration.dashboard_browser import CHROMIUM, DEADLINE_MS, running_browser
from integration.oidc_net import Provider, SignInController, installed
from integration.waiting import wait_until

PEOPLE: dict[str, dict[str, Any]] = {
    "ann": {"preferred_username": "ann.lee", "groups": ["staff", "cn=net=ops"]},
    "bob": {"preferred_username": "bob", "groups": ["staff", "guests"]},
    "eve": {"preferred_username": "eve\u202e", "groups": ["cn=net=ops"]},
    "max": {"preferred_username": "max"},
}
ROLES = ("cn=net=ops=operator", "staff-admins=admin", "guests=viewer")


@dataclass
class House:
    """The controller, its provider, and the text of the controller's log."""

    controller: SignInController
    provider: Provider
    process: Process

    @property
    def log(self) -> str:
        return self.process.log.read_text()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    installation = installed()
    directory = tmp_path_factory.mktemp("oidc")
    controller = SignInController(directory)
    provider = Provider(installation, directory, f"{controller.url}/login/oidc/callback", PEOPLE)
    try:
        with controller.serving(provider, ROLES, "--oidc-name=preferred_username") as process:
            yield House(controller, provider, process)
    finally:
        provider.kill()


@pytest.fixture
def house(served: House) -> House:
    """With a provider that was just started: it has sessions and keys of its own."""
    served.provider.start()
    return served


class Person:
    """A browser without scripts, whose user has a login at the provider."""

    def __init__(self, house: House, login: str) -> None:
        self.house = house
        self.login = login
        self.web = httpx.Client(timeout=PATIENCE_S)

    def begin(self, target: str = "/") -> str:
        """Asks for the sign-in; the address at the provider."""
        answer = self.web.get(f"{self.house.controller.url}/login/oidc", params={"next": target})
        assert answer.status_code == 302, answer.text
        return answer.headers["location"]

    def agree(self, address: str) -> str:
        """Signs in at the provider and gives consent; the address back at the controller."""
        while not address.startswith(self.house.controller.url):
            answer = self.web.get(address)
            while answer.status_code == 200:
                action = re.search(r'action="([^"]+)"', answer.text)
                prompt = re.search(r'name="prompt" value="([^"]+)"', answer.text)
                assert action is not None, answer.text
                assert prompt is not None, answer.text
                form = {"prompt": prompt[1], "login": self.login, "password": "any"}
                answer = self.web.post(html.unescape(action[1]), data=form)
            address = httpx.URL(address).join(answer.headers["location"]).__str__()
        return address

    def sign_in(self, target: str = "/") -> httpx.Response:
        """All of it; the answer of the controller at the end."""
        return self.web.get(self.agree(self.begin(target)))

    def page(self, path: str = "/") -> httpx.Response:
        return self.web.get(self.house.controller.url + path)


Visitor = Callable[[str], Person]


@pytest.fixture
def visitor(house: House) -> Iterator[Visitor]:
    """Makes a person with a login at the provider."""
    with contextlib.ExitStack() as opened:

        def person(login: str) -> Person:
            made = Person(house, login)
            opened.enter_context(made.web)
            return made

        yield person


def changed(address: str, **fields: str | None) -> str:
    """The address with other fields in its query; None leaves one out."""
    query = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
    kept = {name: value for name, value in {**query, **fields}.items() if value is not None}
    return urlsplit(address)._replace(query=urlencode(kept)).geturl()


def refused(answer: httpx.Response, status: int, sentence: str) -> None:
    assert (answer.status_code, sentence in html.unescape(answer.text)) == (status, True), answer.text
    assert "Access token" in answer.text


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium (apt install chromium)")
def test_a_person_signs_in_by_clicks(house: House) -> None:
    url = house.controller.url
    with running_browser() as browser:
        page = browser.new_page()
        page.set_default_timeout(DEADLINE_MS)
        page.goto(f"{url}/audit?actor=x")
        page.get_by_role("link", name=f"Sign in with {house.provider.issuer.removeprefix('http://')}").click()
        page.get_by_placeholder("Enter any login").fill("ann")
        page.get_by_placeholder("and password").fill("any")
        page.get_by_role("button", name="Sign-in").click()
        page.get_by_role("button", name="Continue").click()
        expect(page.locator("#who")).to_have_text("oidc:ann.lee · operator", timeout=DEADLINE_MS)
        assert page.url == f"{url}/audit?actor=x"
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_label("Access token")).to_be_visible(timeout=DEADLINE_MS)
        page.goto(f"{url}/audit")
        expect(page.get_by_label("Access token")).to_be_visible(timeout=DEADLINE_MS)


def test_the_page_asked_for_follows_and_nothing_elsewhere(house: House, visitor: Visitor) -> None:
    ann = visitor("ann")
    answer = ann.sign_in("/tuner?a=1&b=2")
    assert (answer.status_code, answer.headers["location"]) == (303, "/tuner?a=1&b=2")
    assert "oidc:ann.lee" in ann.page().text
    assert visitor("bob").sign_in("//evil.test/").headers["location"] == "/"


def test_the_request_has_pkce_state_and_nonce(house: House, visitor: Visitor) -> None:
    first, second = (parse_qs(urlsplit(visitor("ann").begin()).query) for _ in range(2))
    assert first["code_challenge_method"] == ["S256"]
    assert first["redirect_uri"] == [f"{house.controller.url}/login/oidc/callback"]
    for name in ("state", "nonce", "code_challenge"):
        assert first[name] != second[name]


def test_claims_may_be_in_the_id_token_or_at_the_userinfo_endpoint(house: House, visitor: Visitor) -> None:
    house.provider.start(at_userinfo=False)
    ann = visitor("ann")
    assert ann.sign_in().status_code == 303
    assert "oidc:ann.lee" in ann.page().text


@pytest.mark.parametrize(
    ("login", "sentence"),
    [
        ("max", "as max, and none of your groups has a role"),
        ("eve", "sent no name of yours"),  # it would be shown as something else
    ],
)
def test_who_is_not_admitted_is_told_why(house: House, visitor: Visitor, login: str, sentence: str) -> None:
    person = visitor(login)
    refused(person.sign_in(), 403, sentence)
    assert person.page().status_code == 303


def test_who_declines_at_the_provider_comes_back(house: House, visitor: Visitor) -> None:
    ann = visitor("ann")
    answer = ann.web.get(ann.begin())
    abort = ann.web.get(str(answer.url.join(answer.headers["location"])) + "/abort")
    address = ann.agree(str(answer.url.join(abort.headers["location"])))
    refused(ann.web.get(address), 401, "did not let you in")


@pytest.mark.parametrize("state", ["other", None, ""])
def test_an_answer_that_was_not_asked_for(house: House, visitor: Visitor, state: str | None) -> None:
    ann = visitor("ann")
    refused(ann.web.get(changed(ann.agree(ann.begin()), state=state)), 401, "not begun in this browser")
    assert ann.page().status_code == 303


def test_an_answer_in_another_browser_or_a_second_time(house: House, visitor: Visitor) -> None:
    ann, thief = visitor("ann"), visitor("bob")
    address = ann.agree(ann.begin())
    thief.begin()
    refused(thief.web.get(address), 401, "not begun in this browser")
    assert ann.web.get(address).status_code == 303
    refused(ann.web.get(address), 401, "not begun in this browser")


@pytest.mark.parametrize("field", ["nonce", "code_challenge"])
def test_an_answer_to_another_request(house: House, visitor: Visitor, field: str) -> None:
    """As if the code of a victim's flow was put into the attacker's."""
    ann = visitor("ann")
    other = parse_qs(urlsplit(visitor("bob").begin()).query)[field][0]
    refused(ann.web.get(ann.agree(changed(ann.begin(), **{field: other}))), 401, "was not valid")
    assert ann.page().status_code == 303


def test_an_id_token_that_has_expired(house: House, visitor: Visitor) -> None:
    house.provider.start(slow_s=3600)
    ann = visitor("ann")
    refused(ann.sign_in(), 401, "was not valid")
    assert "ExpiredTokenError" in house.log
    assert ann.page().status_code == 303


def test_new_keys_of_the_provider_are_found(house: House, visitor: Visitor) -> None:
    assert visitor("ann").sign_in().status_code == 303
    ann = visitor("ann")
    ann.begin()  # so that the old keys are known
    house.provider.start()
    assert ann.sign_in().status_code == 303


def test_a_wrong_secret(house: House, visitor: Visitor) -> None:
    house.provider.start(secret="something else")
    refused(visitor("ann").sign_in(), 401, "was not valid")
    assert "invalid_client" in house.log


def test_without_the_provider_a_token_still_signs_in(house: House, visitor: Visitor) -> None:
    late = visitor("ann")
    address = late.agree(late.begin())
    house.provider.kill()
    refused(late.web.get(address), 503, "does not answer as it should")
    ann = visitor("ann")

    def away() -> bool:
        return ann.page("/login/oidc").status_code == 503

    wait_until(away, "the controller does not see that the provider is away", PATIENCE_S)
    refused(ann.page("/login/oidc?next=%2Ftuner"), 503, "use a token")
    entered = ann.web.post(
        f"{house.controller.url}/login", data={"token": house.controller.token, "next": "/tuner"}
    )
    assert (entered.status_code, entered.headers["location"]) == (303, "/tuner")
    assert "test · admin" in html.unescape(ann.page().text)
    assert "Traceback" not in house.log
