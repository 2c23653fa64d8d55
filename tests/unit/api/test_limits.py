# SPDX-License-Identifier: Apache-2.0
"""Rate limits per token and per address."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clarion_control.api import windows
from clarion_control.api.limits import RateLimits
from clarion_control.api.options import ApiOptions
from clarion_control.api.problems import Problem
from clarion_control.api.windows import WindowStorage
from clarion_control.model import Role
from fakes.rest import open_rig, problem


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("clarion_control.api.windows.time", made)
    monkeypatch.setattr("clarion_control.api.limits.time", made)
    return made


def test_a_window_moves(clock: Clock) -> None:
    """Two in any minute, with requests at 0 s and 50 s: at 61 s only the first has expired."""
    limits = RateLimits(ApiOptions(requests_per_minute=2))
    limits.request(1)
    clock.now += 50
    limits.request(1)
    with pytest.raises(Problem) as refused:
        limits.request(1)
    assert refused.value.headers == {"Retry-After": "10"}
    clock.now += 11
    limits.request(1)
    with pytest.raises(Problem):
        limits.request(1)


def test_tokens_do_not_share_a_window(clock: Clock) -> None:
    limits = RateLimits(ApiOptions(requests_per_minute=1))
    limits.request(1)
    limits.request(2)
    with pytest.raises(Problem):
        limits.request(1)


def test_who_is_refused_is_not_counted(clock: Clock) -> None:
    limits = RateLimits(ApiOptions(requests_per_minute=1))
    limits.request(1)
    for _ in range(100):
        clock.now += 0.1
        with pytest.raises(Problem):
            limits.request(1)
    clock.now += 51
    limits.request(1)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("192.0.2.1", "::ffff:192.0.2.1", True),
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("fe80::1%eth0", "fe80::2%eth0", True),
        ("", "", True),
    ],
)
def test_addresses_of_one_owner_share_a_window(clock: Clock, first: str, second: str, same: bool) -> None:
    limits = RateLimits(ApiOptions(failures_per_minute=1))
    limits.failed(first)
    if same:
        with pytest.raises(Problem):
            limits.failed(second)
    else:
        limits.failed(second)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 2)), max_size=60), st.integers(1, 5))
@settings(deadline=None)
def test_windows_agree_with_a_list_of_all_hits(steps: list[tuple[int, int]], limit: int) -> None:
    """Against a simple model, which keeps every hit and counts them each time."""
    clock = Clock()
    storage = WindowStorage()
    taken: list[tuple[int, float]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(windows, "time", clock)
        for wait_s, key in steps:
            clock.now += wait_s
            count = sum(1 for owner, at in taken if owner == key and at > clock.now - 60)
            assert storage.get_moving_window(str(key), limit, 60)[1] == count
            assert storage.acquire_entry(str(key), limit, 60) is (count < limit)
            if count < limit:
                taken.append((key, clock.now))


def test_a_flood_from_many_addresses_fills_no_memory(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "MAX_KEYS", 5)
    limits = RateLimits(ApiOptions(failures_per_minute=1, requests_per_minute=1))
    limits.request(1)
    for number in range(100):
        limits.failed(f"192.0.2.{number}")
    with pytest.raises(Problem):  # a token's window is not pushed out by addresses
        limits.request(1)
    with pytest.raises(Problem):
        limits.failed("192.0.2.99")
    assert limits._failures._windows.storage.reset() == 5


def test_keys_that_are_over_are_forgotten(clock: Clock) -> None:
    storage = WindowStorage()
    for number in range(10 * windows.SWEEP_KEYS):
        clock.now += 0.1
        assert storage.acquire_entry(str(number), 1, 60)
    assert (storage.reset() or 0) <= 2 * windows.SWEEP_KEYS


async def test_guessing_tokens_is_slowed_down_and_others_are_not(tmp_path: Path) -> None:
    options = ApiOptions(failures_per_minute=3)
    async with open_rig(tmp_path, options=options) as rig:
        for _ in range(3):
            guess = await rig.client.get("/v1/switches", headers={"Authorization": "Bearer clarion_guess"})
            problem(guess, 401, "unauthenticated")
        refused = await rig.client.get("/v1/switches", headers={"Authorization": "Bearer clarion_guess"})
        problem(refused, 429, "too-many-requests")
        assert 1 <= int(refused.headers["retry-after"]) <= 60
        assert (await rig.ask(Role.ADMIN, "GET", "/v1/switches")).status_code == 200
        problem(await rig.ask(None, "GET", "/v1/switches"), 401, "unauthenticated")


async def test_a_token_that_asks_too_often_is_told_when_to_come_back(tmp_path: Path) -> None:
    async with open_rig(tmp_path, options=ApiOptions(requests_per_minute=5)) as rig:
        for _ in range(5):
            assert (await rig.ask(Role.VIEWER, "GET", "/v1/switches")).status_code == 200
        refused = await rig.ask(Role.VIEWER, "GET", "/v1/switches")
        assert "more than 5 requests" in problem(refused, 429, "too-many-requests")["detail"]
        assert 1 <= int(refused.headers["retry-after"]) <= 60
        assert (await rig.ask(Role.OPERATOR, "GET", "/v1/switches")).status_code == 200


async def test_requests_without_token_have_a_limit_of_their_own(tmp_path: Path) -> None:
    async with open_rig(tmp_path, options=ApiOptions(anonymous_per_minute=2)) as rig:
        assert (await rig.ask(None, "GET", "/v1/health")).status_code == 200
        problem(await rig.ask(None, "GET", "/v1/switches"), 401, "unauthenticated")
        problem(await rig.ask(None, "GET", "/v1/health"), 429, "too-many-requests")
        assert (await rig.ask(Role.VIEWER, "GET", "/v1/switches")).status_code == 200
