# SPDX-License-Identifier: Apache-2.0
"""`clarion token`."""

from __future__ import annotations

import argparse
import getpass
import os
import sys
import time
from datetime import datetime, timezone

from clarion_base.errors import UserError
from clarion_control.commands.arguments import STORE_HELP, duration_s
from clarion_control.errors import NotFoundError
from clarion_control.model import Actor, Role, Token
from clarion_control.services.tokens import days, expires_soon_us
from clarion_control.store import Store, tokens
from clarion_control.store.clock import now_us

ROLES = tuple(role.name.lower() for role in Role)
_LAST_DATE_US = 253_402_300_799_000_000  # the end of the year 9999, behind which Python knows none


def add_options(parser: argparse.ArgumentParser) -> None:
    """The commands behind `clarion token`."""
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("create", help="create a token and print it; it cannot be read again")
    command.add_argument("name", help="who or what uses it")
    command.add_argument(
        "--role",
        choices=ROLES,
        required=True,
        help="a viewer looks, an operator also changes settings, an experimenter also runs scenarios on the "
        "controller's machine, an admin also adds switches and tokens",
    )
    command.add_argument(
        "--expires",
        type=_lifetime_s,
        default=float(tokens.LIFE_S),
        metavar="TIME",
        help="such as 12h or 30d, or never (default: 90d)",
    )
    command.add_argument("--store", help=STORE_HELP)
    command.set_defaults(run=_create)

    command = commands.add_parser("list", help="all tokens, without their text")
    command.add_argument("--store", help=STORE_HELP)
    command.set_defaults(run=_list)

    command = commands.add_parser("revoke", help="make a token useless")
    command.add_argument("token", help="its number or name")
    command.add_argument("--store", help=STORE_HELP)
    command.set_defaults(run=_revoke)


def _create(options: argparse.Namespace) -> int:
    expires_us = None if options.expires is None else int((time.time() + options.expires) * 1e6)
    store = Store.open(options.store)
    try:
        role = Role[options.role.upper()]
        token, text = store.change_now(tokens.create, _actor(), options.name, role, expires_us)
    finally:
        store.dispose()
    until = "for ever" if token.expires_us is None else f"until {_date(token.expires_us)} UTC"
    print(
        f"token {token.id} for {token.name}, {options.role}, valid {until}; keep it, it is shown only now:",
        file=sys.stderr,
    )
    print(text)
    return 0


def _list(options: argparse.Namespace) -> int:
    store = Store.open(options.store)
    try:
        found = store.read_now(tokens.listed)
    finally:
        store.dispose()
    for token in found:
        print(_line(token))
    if not found:
        print("no tokens; create one: clarion token create NAME --role admin", file=sys.stderr)
    return 0


def _revoke(options: argparse.Namespace) -> int:
    store = Store.open(options.store)
    try:
        named = [
            token
            for token in store.read_now(tokens.listed)
            if token.revoked_us is None and options.token in (token.name, str(token.id))
        ]
        if not named:
            raise NotFoundError("token", options.token)
        if len(named) > 1:  # one's name is the other's number
            reason = "is the name of one token and the number of another"
            hint = "revoke it on the dashboard, or by DELETE /v1/tokens/NUMBER"
            raise UserError(f"token {options.token}: {reason}; {hint}")
        store.change_now(tokens.revoke, _actor(), named[0].id)
    finally:
        store.dispose()
    print(f"revoked token {named[0].id} ({named[0].name})")
    return 0


def _lifetime_s(text: str) -> float | None:
    return None if text == "never" else duration_s(text)


def _line(token: Token) -> str:
    state = "revoked" if token.revoked_us is not None else f"expires {_date(token.expires_us)}{_left(token)}"
    return (
        f"{token.id:>4}  {token.role.name.lower():12}  {token.name:24}  created {_date(token.created_us)}  "
        f"used {_date(token.last_used_us)}  {state}"
    )


def _left(token: Token) -> str:
    if token.expires_us is not None and token.expires_us <= now_us():
        return " (it is over)"
    left_us = expires_soon_us(token)
    return "" if left_us is None else f" (in {days(left_us)}: make the one that takes its place)"


def _date(time_us: int | None) -> str:
    if time_us is None:
        return "never"
    if time_us > _LAST_DATE_US:
        return "after 9999"
    return datetime.fromtimestamp(time_us / 1e6, timezone.utc).strftime("%Y-%m-%d %H:%M")


def _actor() -> Actor:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user id without a name
        user = str(os.getuid())
    return Actor(f"{user} at the command line", Role.ADMIN)
