# SPDX-License-Identifier: Apache-2.0
"""Sessions, one-time codes and the limit on guesses, with a clock set by the test."""

from __future__ import annotations

from clarion_control.dashboard.sessions import IDLE_S, LINK_S, LONGEST_S, Attempts, Sessions


def test_a_session_stands_for_a_token_until_it_is_ended() -> None:
    sessions = Sessions()
    key = sessions.begin(7, 0)
    assert sessions.holder(key, 1) == 7
    assert sessions.holder("other", 1) is None
    assert sessions.holder(None, 1) is None
    sessions.end(key)
    assert sessions.holder(key, 2) is None


def test_a_session_ends_when_it_is_not_used_and_after_a_week_in_any_case() -> None:
    sessions = Sessions()
    key = sessions.begin(7, 0)
    assert sessions.holder(key, IDLE_S) == 7
    assert sessions.holder(key, 2 * IDLE_S + 1) is None
    key = sessions.begin(7, 0)
    now_s = 0.0
    while now_s + IDLE_S <= LONGEST_S:
        now_s += IDLE_S
        assert sessions.holder(key, now_s) == 7
    assert sessions.holder(key, LONGEST_S + 1) is None


def test_a_code_signs_in_once_and_not_for_long() -> None:
    sessions = Sessions()
    code = sessions.code(7, 0)
    assert sessions.redeem(code, 1) == 7
    assert sessions.redeem(code, 1) is None
    assert sessions.redeem(sessions.code(7, 0), LINK_S) is None
    assert sessions.redeem("guess", 0) is None


def test_ten_failures_of_an_address_make_it_wait_a_minute() -> None:
    attempts = Attempts()
    for second in range(10):
        assert attempts.wait_s("a", second) == 0
        attempts.failed("a", second)
    assert attempts.wait_s("a", 10) == 50  # the first guess was at 0
    assert attempts.wait_s("b", 10) == 0
    assert attempts.wait_s("a", 60) == 0


def test_bad_sign_ins_slow_down_their_own_source_only() -> None:
    attempts = Attempts()
    for number in range(1000):
        attempts.failed(f"10.0.{number // 250}.{number % 250}", 0)
    for number in range(10):
        attempts.failed(f"2001:db8:1:2::{number}", 0)
    assert attempts.wait_s("192.0.2.1", 1) == 0
    assert attempts.wait_s("2001:db8:1:2:ffff::1", 1) == 59  # the same /64
    assert attempts.wait_s("2001:db8:1:3::1", 1) == 0


def test_failures_of_ever_new_sources_fill_no_memory() -> None:
    attempts = Attempts()
    for number in range(Attempts.SOURCES + 5):
        attempts.failed(f"source {number}", 0)
    assert len(attempts._failures) == Attempts.SOURCES
