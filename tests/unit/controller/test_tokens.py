# SPDX-License-Identifier: Apache-2.0
"""The tokens that a controller has in memory: what a check costs the store, and what it sees of others."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from clarion_control.controller import Controller
from clarion_control.errors import ExistsError
from clarion_control.model import Role, Token
from clarion_control.services import tokens as service
from clarion_control.store import tokens
from clarion_control.store.clock import now_us
from fakes.controller import ADMIN, open_controller, open_store, until

BOGUS = "clarion_" + 43 * "x"
DAY_US = 86_400_000_000


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """The store is not looked at in the background."""
    monkeypatch.setattr(service, "REFRESH_S", 3600.0)


def reads(controller: Controller) -> int:
    return controller.store_operations["read"]


async def test_a_token_from_its_creation_to_its_end(tmp_path: Path) -> None:
    async with open_controller(tmp_path) as controller:
        token, text = await controller.tokens.create(ADMIN, "grafana", Role.VIEWER)
        found = controller.tokens.valid(text)
        assert found is not None
        assert (found.id, found.role) == (token.id, Role.VIEWER)
        assert controller.tokens.by_id(token.id) == found
        for other in (text + "x", text[:-1], BOGUS, "Grüße", ""):
            assert controller.tokens.valid(other) is None
        with pytest.raises(ExistsError):
            await controller.tokens.create(ADMIN, "grafana", Role.ADMIN)
        await controller.tokens.revoke(ADMIN, token.id)
        assert controller.tokens.valid(text) is None
        assert controller.tokens.by_id(token.id) is None
        await controller.tokens.create(ADMIN, "grafana", Role.VIEWER)


@pytest.mark.usefixtures("still")
async def test_checks_cost_the_store_nothing_whether_right_or_wrong(tmp_path: Path) -> None:
    async with open_controller(tmp_path) as controller:
        _, text = await controller.tokens.create(ADMIN, "grafana", Role.VIEWER)
        before = dict(controller.store_operations)
        for _ in range(1000):
            assert controller.tokens.valid(text) is not None
            assert controller.tokens.valid(BOGUS) is None
        assert controller.store_operations == before


@pytest.mark.usefixtures("still")
async def test_what_is_not_known_is_looked_for_once_a_second_in_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_controller(tmp_path) as controller, open_store(tmp_path) as other:
        before = reads(controller)
        assert await controller.tokens.look_again("clarion_guess") is None
        assert reads(controller) == before  # that is no token at all
        for _ in range(1000):
            assert await controller.tokens.look_again(BOGUS) is None
        assert reads(controller) == before + 1
        _, text = await other.change(tokens.create, ADMIN, "grafana", Role.VIEWER)
        assert await controller.tokens.look_again(text) is None  # too soon
        monkeypatch.setattr(service, "LOOK_AGAIN_S", 0.0)
        assert await controller.tokens.look_again(text) is not None


async def test_what_another_process_changes_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "REFRESH_S", 0.01)
    async with open_controller(tmp_path) as controller, open_store(tmp_path) as other:
        token, text = await other.change(tokens.create, ADMIN, "grafana", Role.VIEWER)
        await until(lambda: controller.tokens.valid(text) is not None)
        await other.change(tokens.revoke, ADMIN, token.id)
        await until(lambda: controller.tokens.valid(text) is None)


async def test_the_last_use_is_recorded_once_a_minute_and_not_by_the_request(tmp_path: Path) -> None:
    async with open_controller(tmp_path) as controller:
        token, text = await controller.tokens.create(ADMIN, "grafana", Role.VIEWER)
        began_us = now_us()
        for _ in range(10):
            assert controller.tokens.valid(text)
        assert controller.tokens._used_us.keys() == {token.id}
    async with open_controller(tmp_path) as controller:
        (again,) = await controller.tokens.all()
        assert again.last_used_us is not None
        assert began_us <= again.last_used_us <= now_us()
        assert controller.tokens.valid(text)
        assert not controller.tokens._used_us


async def test_a_token_that_expires_soon_is_said_once_a_day(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_controller(tmp_path) as controller:
        await controller.tokens.create(ADMIN, "soon", Role.VIEWER, now_us() + 9 * DAY_US + 3600 * 10**6)
        await controller.tokens.create(ADMIN, "later", Role.VIEWER)
        await controller.tokens.create(ADMIN, "never", Role.VIEWER, None)
        left_us = (controller.tokens.next_expiry_us() or 0) - now_us()
        assert 9 * DAY_US < left_us < 10 * DAY_US
    with caplog.at_level(logging.WARNING):
        async with open_controller(tmp_path) as controller:
            await until(lambda: bool(caplog.records))
            controller.tokens._warn()
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith("token soon expires in 9 days; ")


@pytest.mark.parametrize(
    ("left_us", "said"), [(9 * DAY_US, "9 days"), (DAY_US, "1 day"), (DAY_US - 1, "23 hours"), (1, "0 hours")]
)
def test_a_remaining_time_in_words(left_us: int, said: str) -> None:
    assert service.days(left_us) == said


def test_who_is_warned() -> None:
    def left(**times: int) -> int | None:
        return service.expires_soon_us(Token(1, "x", Role.VIEWER, 0, **times))

    assert left() is None
    assert left(expires_us=now_us() + 15 * DAY_US) is None
    assert left(expires_us=now_us() - 1) is None
    assert left(expires_us=now_us() + DAY_US, revoked_us=1) is None
    assert 0 < (left(expires_us=now_us() + DAY_US) or 0) <= DAY_US
