# SPDX-License-Identifier: Apache-2.0
"""`clarion controller` and `clarion token`: options, and what they do."""

from __future__ import annotations

import argparse
import getpass
import os
import re
import sys
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clarion.errors import UserError

if TYPE_CHECKING:  # at run time only inside commands: every `clarion` command comes by here
    from clarion_control.model import Actor, Token

ROLES = ("viewer", "operator", "admin")
_LAST_DATE_US = 253_402_300_799_000_000  # the end of the year 9999, behind which Python knows none
_UNITS_S = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
STORE_HELP = "a path (SQLite) or postgresql:// URL; default: $CLARION_STORE or /var/lib/clarion/controller.db"


def add_controller_commands(commands: Any) -> None:
    """`clarion controller ...`."""
    command = commands.add_parser("serve", help="manage switches; REST API, tuner and dashboard")
    command.add_argument(
        "--listen", default="127.0.0.1:8080", metavar="HOST:PORT", help="default: 127.0.0.1:8080"
    )
    command.add_argument("--store", help=STORE_HELP)
    command.add_argument("--tls-certificate", type=Path, metavar="PEM", help="serve over TLS")
    command.add_argument("--tls-key", type=Path, metavar="PEM", help="and its private key")
    command.add_argument(
        "--insecure-http", action="store_true", help="without TLS also where others can reach it"
    )
    command.add_argument(
        "--election-id",
        type=_election_id,
        default=1,
        metavar="N",
        help="of this controller, another for each; the higher one is primary (default: 1)",
    )
    command.add_argument(
        "--history",
        type=_duration_s,
        default=7 * 86400.0,
        metavar="TIME",
        help="how long reports are kept, such as 12h or 7d (default: 7d)",
    )
    command.add_argument(
        "--experiments", type=Path, metavar="DIR", help="results of experiments (default: beside the store)"
    )
    command.add_argument("--no-experiments", action="store_true", help="run none")
    command.add_argument("--no-tuner", action="store_true", help="leave tuning to another controller")
    command.add_argument("--no-dashboard", action="store_true", help="the API only")
    command.add_argument(
        "--requests-per-minute",
        type=_positive,
        default=1200,
        metavar="N",
        help="that one token may make (default: 1200)",
    )
    command.add_argument(
        "--sign-in-link", metavar="TOKEN_NAME", help="print a link that signs in to the dashboard, once"
    )
    command.set_defaults(command=_serve)


def add_token_commands(commands: Any) -> None:
    """`clarion token ...`."""
    command = commands.add_parser("create", help="create a token and print it; nobody can read it again")
    command.add_argument("name", help="who or what uses it")
    command.add_argument(
        "--role",
        choices=ROLES,
        required=True,
        help="a viewer looks, an operator also changes settings, an admin also adds switches and tokens",
    )
    command.add_argument("--expires", type=_duration_s, metavar="TIME", help="such as 12h or 90d")
    command.add_argument("--store", help=STORE_HELP)
    command.set_defaults(command=_create)

    command = commands.add_parser("list", help="all tokens, without their text")
    command.add_argument("--store", help=STORE_HELP)
    command.set_defaults(command=_list)

    command = commands.add_parser("revoke", help="make a token useless")
    command.add_argument("token", help="its number or name")
    command.add_argument("--store", help=STORE_HELP)
    command.set_defaults(command=_revoke)


def _serve(options: argparse.Namespace) -> int:
    from clarion_control import serve

    experiments = None
    if not options.no_experiments:
        experiments = options.experiments or serve.default_experiments(options.store)
    serve.run(
        serve.ServeOptions(
            listen=options.listen,
            store=options.store,
            experiments=experiments,
            tls_certificate=options.tls_certificate,
            tls_key=options.tls_key,
            insecure_http=options.insecure_http,
            election_id=options.election_id,
            history_s=options.history,
            dashboard=not options.no_dashboard,
            tuner=not options.no_tuner,
            requests_per_minute=options.requests_per_minute,
            sign_in=options.sign_in_link,
        )
    )
    return 0


def _create(options: argparse.Namespace) -> int:
    from clarion_control.model import Role
    from clarion_control.store import Store, tokens

    expires_us = None if options.expires is None else int((time.time() + options.expires) * 1e6)
    store = Store.open(options.store)
    try:
        role = Role[options.role.upper()]
        token, text = store.change_now(tokens.create, _actor(), options.name, role, expires_us)
    finally:
        store.dispose()
    print(
        f"token {token.id} for {token.name}, {options.role}; keep it, it is shown only now:", file=sys.stderr
    )
    print(text)
    return 0


def _list(options: argparse.Namespace) -> int:
    from clarion_control.store import Store, tokens

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
    from clarion_control.errors import NotFoundError
    from clarion_control.store import Store, tokens

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
            reason = "is the name of one token and the number of another; revoke it over REST"
            raise UserError(f"token {options.token}: {reason}")
        store.change_now(tokens.revoke, _actor(), named[0].id)
    finally:
        store.dispose()
    print(f"revoked token {named[0].id} ({named[0].name})")
    return 0


def _line(token: Token) -> str:
    state = "revoked" if token.revoked_us is not None else f"expires {_date(token.expires_us)}"
    return (
        f"{token.id:>4}  {token.role.name.lower():8}  {token.name:24}  created {_date(token.created_us)}  "
        f"used {_date(token.last_used_us)}  {state}"
    )


def _date(time_us: int | None) -> str:
    if time_us is None:
        return "never"
    if time_us > _LAST_DATE_US:
        return "after 9999"
    return datetime.fromtimestamp(time_us / 1e6, timezone.utc).strftime("%Y-%m-%d %H:%M")


def _actor() -> Actor:
    from clarion_control.model import Actor, Role

    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user id without a name
        user = str(os.getuid())
    return Actor(f"{user} at the command line", Role.ADMIN)


def _duration_s(text: str) -> float:
    match = re.fullmatch(r"(\d{1,6})([mhdw])", text)
    if not match or int(match.group(1)) == 0:
        raise argparse.ArgumentTypeError(f"{text}: write a time such as 30m, 12h, 7d or 4w")
    return float(int(match.group(1)) * _UNITS_S[match.group(2)])


def _positive(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 10**9:
        raise argparse.ArgumentTypeError(f"{text}: use a whole number from 1")
    return int(text)


def _election_id(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) < 2**64:
        raise argparse.ArgumentTypeError(f"{text}: use a whole number from 1 to 2^64-1")
    return int(text)
