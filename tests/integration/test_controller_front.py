# SPDX-License-Identifier: Apache-2.0
"""A controller process under guesses, behind a proxy and under other names, on real sockets."""

from __future__ import annotations

import http.client
import socket
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest

from bench.controller_lockout import operations
from integration.controller_net import CLARION, PATIENCE_S, ServedController, create_token
from integration.waiting import wait_until

BOGUS = "clarion_" + 43 * "x"
GUESSES = 300
NAME = "board.example.org"


@pytest.fixture(scope="module")
def controller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedController]:
    """It believes a proxy at 127.0.0.9."""
    options = ("--no-tuner", "--trusted-proxy", "127.0.0.9", "--host", NAME)
    with ServedController(tmp_path_factory.mktemp("front"), None, *options, dashboard=True) as made:
        yield made


def ask(
    controller: ServedController,
    method: str,
    path: str,
    headers: Mapping[str, str] | None = None,
    *,
    source: str = "127.0.0.1",
    token: str | None = None,
    form: Mapping[str, str] | None = None,
) -> http.client.HTTPResponse:
    """One answer, read, to a request from an address of the loopback network."""
    parts = urlsplit(controller.url)
    connection = http.client.HTTPConnection(
        parts.hostname or "", parts.port, timeout=PATIENCE_S, source_address=(source, 0)
    )
    sent = dict(headers or {})
    if token is not None:
        sent["Authorization"] = f"Bearer {token}"
    if form is not None:
        sent["Content-Type"] = "application/x-www-form-urlencoded"
    try:
        connection.request(method, path, None if form is None else urlencode(form), sent)
        answer = connection.getresponse()
        answer.read()
        return answer
    finally:
        connection.close()


def test_guesses_lock_nobody_out_and_cost_the_store_next_to_nothing(controller: ServedController) -> None:
    """A hundred wrong sign-ins a second from one address, or as many as the machine can do."""
    statuses: Counter[int] = Counter()
    enough = threading.Event()

    def guess() -> None:
        while statuses.total() < GUESSES or not enough.is_set():
            form = {"token": BOGUS}
            statuses[ask(controller, "POST", "/login", source="127.0.0.2", form=form).status] += 1
            statuses[ask(controller, "GET", "/v1/switches", source="127.0.0.2", token=BOGUS).status] += 1

    before, began = operations(controller), time.monotonic()
    guesser = threading.Thread(target=guess)
    guesser.start()
    try:
        wait_until(lambda: statuses[429] > 100, "no guess is refused")
        form = {"token": controller.token}
        for source in ("127.0.0.3", "127.0.0.2"):  # from elsewhere, and even from there
            assert ask(controller, "POST", "/login", source=source, form=form).status == 303
            assert ask(controller, "GET", "/v1/switches", source=source, token=controller.token).status == 200
    finally:
        enough.set()
        guesser.join(PATIENCE_S)
    took_s = time.monotonic() - began
    after = operations(controller)
    assert set(statuses) == {401, 429}
    assert statuses[401] == 20  # ten in a minute, of each kind
    assert statuses.total() >= GUESSES
    # In the background the store is read three times in two seconds; a guess that is not limited adds one.
    assert after["read"] - before["read"] <= 2 * took_s + 20 + 2
    assert after["change"] == before["change"]
    assert after["append"] - before["append"] <= 2 * took_s + 5  # the audit, twice a second at most

    def recorded() -> dict[str, int]:
        with controller.api() as api:
            return {
                record["action"]: record["after"]["count"]
                for record in api.get("/v1/audit?actor=unknown")["items"]
                if record["after"]["source"] == "127.0.0.2"
            }

    wait_until(lambda: recorded().keys() >= {"session.fail", "request.fail"}, "failures are not in the audit")


def test_a_token_of_another_process_is_good_at_once_and_a_revoked_one_not_for_long(
    controller: ServedController,
) -> None:
    token = create_token(controller.store, "late", "viewer")
    wait_until(
        lambda: ask(controller, "GET", "/v1/switches", source="127.0.0.4", token=token).status == 200,
        "a new token is not valid",
    )
    command = [*CLARION, "token", "revoke", "late", "--store", controller.store]
    subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE_S)
    wait_until(
        lambda: ask(controller, "GET", "/v1/switches", source="127.0.0.4", token=token).status != 200,
        "a revoked token is valid",
    )


def test_errors_of_one_user_behind_a_proxy_do_not_stop_the_others(controller: ServedController) -> None:
    def guess(name: str, value: str, source: str = "127.0.0.9") -> int:
        headers = {name: value, "Authorization": f"Bearer {BOGUS}"}
        return ask(controller, "GET", "/v1/switches", headers, source=source).status

    statuses = [guess("X-Forwarded-For", "198.51.100.7, 192.0.2.1") for _ in range(11)]
    assert statuses == [401] * 10 + [429]
    assert guess("X-Forwarded-For", "198.51.100.7, 192.0.2.2") == 401
    assert guess("Forwarded", "for=192.0.2.1;proto=https") == 429
    # From an address that is no proxy the header says nothing.
    assert guess("X-Forwarded-For", "192.0.2.1", source="127.0.0.8") == 401


@pytest.mark.parametrize("proxied", [True, False])
def test_a_proxy_that_does_tls_gets_secure_cookies(controller: ServedController, proxied: bool) -> None:
    headers = {"Host": NAME, "X-Forwarded-For": "192.0.2.9", "X-Forwarded-Proto": "https"}
    headers["Origin"] = f"https://{NAME}"
    form = {"token": controller.token}
    source = "127.0.0.9" if proxied else "127.0.0.1"
    answer = ask(controller, "POST", "/login", headers, source=source, form=form)
    assert answer.status == 303
    assert ("; secure" in str(answer.getheader("set-cookie"))) is proxied
    assert (answer.getheader("strict-transport-security") is not None) is proxied


def test_over_tls_only_pages_over_tls_may_send_forms(controller: ServedController) -> None:
    headers = {"Host": NAME, "X-Forwarded-Proto": "https", "Origin": f"http://{NAME}"}
    form = {"token": controller.token}
    assert ask(controller, "POST", "/login", headers, source="127.0.0.9", form=form).status == 403


def test_other_names_are_not_served(controller: ServedController) -> None:
    for host in ("localhost", "127.0.0.1:8080", NAME):
        assert ask(controller, "GET", "/v1/health", {"Host": host}).status == 200
    refused = ask(controller, "GET", "/v1/health", {"Host": "evil.test"})
    assert (refused.status, refused.getheader("content-type")) == (421, "application/problem+json")
    port = urlsplit(controller.url).port or 0
    with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as raw:
        raw.sendall(
            b"GET /_nicegui_ws/socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: evil.test\r\n"
            b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        assert raw.recv(100).startswith(b"HTTP/1.1 421 ")


def test_a_proxy_that_cannot_be_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"clarion: --trusted-proxy: 10.1.2.3/16: write an address"):
        ServedController(tmp_path, None, "--trusted-proxy", "10.1.2.3/16").start()
