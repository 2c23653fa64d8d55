# SPDX-License-Identifier: Apache-2.0
"""Invalid values of options: one line, never a traceback."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import pytest

from clarion import cli
from clarion_agent.embedded import SwitchConnection
from clarion_agent.listen import checked_address
from clarion_base.commands import positive
from clarion_base.errors import UserError
from clarion_control.commands.controller import _election_id


def test_a_token_that_outlives_the_calendar_is_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ["--store", str(tmp_path / "x.db")]
    assert cli.main(["token", "create", "eve", "--role", "viewer", "--expires", "999999w", *store]) == 0
    assert cli.main(["token", "list", *store]) == 0
    assert "expires after 9999" in capsys.readouterr().out


@pytest.mark.parametrize("read", [_election_id, positive])
def test_digits_that_are_no_number(read: Callable[[str], int]) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="whole number"):
        read("²")


async def test_a_socket_whose_name_is_too_long(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^--control: .*too long"):
        await SwitchConnection(tmp_path / (150 * "a")).open()


def test_a_port_that_is_no_number() -> None:
    with pytest.raises(UserError, match="HOST:PORT"):
        checked_address("127.0.0.1:²")
