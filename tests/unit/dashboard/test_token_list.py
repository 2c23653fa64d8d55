# SPDX-License-Identifier: Apache-2.0
"""What the page of tokens says of each, and reads of a new one."""

from __future__ import annotations

import pytest

from clarion_control.dashboard.token_list import expiry_us, listed, state
from clarion_control.errors import FieldError
from clarion_control.model import Role, Token
from clarion_control.services.tokens import DAY_US


def token(number: int, **fields: int) -> Token:
    return Token(number, f"t{number}", Role.VIEWER, 0, **fields)


def test_revoked_tokens_are_shown_on_demand_and_the_newest_first() -> None:
    tokens = [token(1), token(2, revoked_us=5), token(3)]
    assert [each.id for each in listed(tokens, revoked=False)] == [3, 1]
    assert [each.id for each in listed(tokens, revoked=True)] == [3, 2, 1]


def test_the_end_is_announced_two_weeks_before() -> None:
    assert state(token(1), 0) is None
    assert state(token(1, expires_us=14 * DAY_US), 0) is None
    soon = state(token(1, expires_us=14 * DAY_US), 1)
    assert soon is not None
    assert soon[1] == "warn"
    assert state(token(1, expires_us=DAY_US), DAY_US) == ("expired", "bad")
    assert state(token(1, expires_us=DAY_US, revoked_us=1), 0) == ("revoked", "")


def test_a_lifetime_is_a_time_or_never() -> None:
    assert expiry_us("90d", 7) == 90 * DAY_US + 7
    assert expiry_us("never", 7) is None
    with pytest.raises(FieldError, match="expires: soon: write a time such as 30m, 12h, 7d or 4w, or never"):
        expiry_us("soon", 7)
