# SPDX-License-Identifier: Apache-2.0
"""`clarion keys`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path

from cryptography import x509

from clarion_base.commands import EXIT_FAILED
from clarion_base.errors import UserError
from clarion_control.commands.arguments import duration_s
from clarion_control.keys import certificates
from clarion_control.keys.certificates import Party, PartyRole
from clarion_control.keys.directory import KeyDirectory

INSTALLED = "/etc/clarion"  # where the files go, in what is printed
SOON_S = 30 * 86400.0


def add_options(parser: argparse.ArgumentParser) -> None:
    """The commands behind `clarion keys`."""
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = _command(
        commands,
        "setup",
        _setup,
        "make the certificates of controllers and switches, and say how to use them",
    )
    for role, hosts in ((PartyRole.CONTROLLER, "NAME[=HOST,...]"), (PartyRole.SWITCH, "NAME=HOST,...")):
        command.add_argument(
            f"--{role.value}",
            action="append",
            default=[],
            metavar=hosts,
            help="and the names or IP addresses at which it is reached; may be given more than once",
        )
    command.add_argument("--force", action="store_true", help="replace certificates that differ")

    command = _command(commands, "list", _list, "what there is, and when it expires")
    _add_within(command, "status 1 if something expires within this time", None)

    command = _command(commands, "renew", _renew, "new keys and certificates for those that expire soon")
    command.add_argument("names", nargs="*", metavar="NAME", help="only these, whenever they expire")
    _add_within(command, "soon means within this time (default: 30d)", SOON_S)

    _command(commands, "replace-authority", _replace, "a new authority; that of before is trusted beside it")
    _command(commands, "drop-authority", _drop, "no longer trust the authority of before")


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    run: object,
    summary: str,
) -> argparse.ArgumentParser:
    made = commands.add_parser(name, help=summary)
    made.add_argument("directory", type=Path, metavar="DIR", help="of the authority; keep it private")
    made.set_defaults(run=run)
    return made


def _add_within(command: argparse.ArgumentParser, text: str, default: float | None) -> None:
    command.add_argument("--within", type=duration_s, default=default, metavar="TIME", help=text)


def _setup(options: argparse.Namespace) -> int:
    wanted = [_party(PartyRole.CONTROLLER, text) for text in options.controller]
    wanted += [_party(PartyRole.SWITCH, text) for text in options.switch]
    if not wanted:
        raise UserError("setup: name who is to have a certificate, with --controller or --switch")
    names = [party.name for party in wanted]
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"{name}: is given twice")
    with KeyDirectory.opened(options.directory, make=True) as directory:
        for party in wanted:
            _check_free(directory, party, force=options.force)
        for party in wanted:
            found = directory.find(party.name)
            if found is None or certificates.party_of(found.certificate) != party:
                directory.issue(party)
        for party in wanted:
            print(_advice(options.directory, party))
    return 0


def _list(options: argparse.Namespace) -> int:
    soon = False
    with KeyDirectory.opened(options.directory) as directory:
        lines = []
        for authority in directory.trusted:
            now = authority == directory.authority.certificate
            lines.append(("", "authority" if now else "authority before", "", authority))
        for name, each in directory.parties().items():
            party = certificates.party_of(each.certificate)
            role = party.role.value + ("" if directory.is_current(each.certificate) else ", renew it")
            lines.append((name, role, ", ".join(party.hosts), each.certificate))
    for name, role, hosts, certificate in lines:
        left = certificate.not_valid_after_utc - datetime.now(timezone.utc)
        soon = soon or (options.within is not None and left < timedelta(seconds=options.within))
        serial = f"{certificate.serial_number:040x}"
        print(f"{name:24}  {role:16}  {_expiry(certificate)}  {serial}  {hosts}".rstrip())
    return EXIT_FAILED if soon else 0


def _renew(options: argparse.Namespace) -> int:
    limit = datetime.now(timezone.utc) + timedelta(seconds=options.within)
    with KeyDirectory.opened(options.directory) as directory:
        parties = directory.parties()
        for name in options.names:
            if name not in parties:
                raise UserError(
                    f"{name}: has no certificate in {options.directory}; `clarion keys list` shows all"
                )
        outdated = directory.outdated()
        for name, each in parties.items():
            due = name in outdated or each.certificate.not_valid_after_utc < limit
            if name in options.names or (due and not options.names):
                made = directory.issue(certificates.party_of(each.certificate))
                print(f"{name}: {_expiry(made.certificate)}; copy {options.directory / name}/ to it")
    return 0


def _replace(options: argparse.Namespace) -> int:
    with KeyDirectory.opened(options.directory) as directory:
        _check_all_current(directory)
        directory.replace_authority()
    print(
        f"copy {options.directory}/NAME/ca.pem to each NAME; then `clarion keys renew`, copy all again, and "
        "`clarion keys drop-authority`"
    )
    return 0


def _drop(options: argparse.Namespace) -> int:
    with KeyDirectory.opened(options.directory) as directory:
        _check_all_current(directory)
        dropped = directory.drop_authorities()
    print(f"dropped {dropped}; copy {options.directory}/NAME/ca.pem to each NAME")
    return 0


def _check_free(directory: KeyDirectory, party: Party, *, force: bool) -> None:
    found = directory.find(party.name)
    if found is None or force:
        return
    there = certificates.party_of(found.certificate)
    if there != party:
        hosts = f" for {', '.join(there.hosts)}" if there.hosts else ""
        raise UserError(
            f"{party.name}: has a certificate of a {there.role.value}{hosts}; --force replaces it"
        )


def _check_all_current(directory: KeyDirectory) -> None:
    outdated = directory.outdated()
    if outdated:
        raise UserError(
            f"{', '.join(outdated)}: signed by the authority before; `clarion keys renew`, and copy, first"
        )


def _party(role: PartyRole, text: str) -> Party:
    name, _, hosts = text.partition("=")
    party = certificates.checked_party(name, role, [host for host in hosts.split(",") if host])
    if role is PartyRole.SWITCH and not party.hosts:
        raise UserError(f"--switch {text}: write NAME=HOST, with the name or IP address that controllers use")
    return party


def _expiry(certificate: x509.Certificate) -> str:
    return f"expires {certificate.not_valid_after_utc:%Y-%m-%d}"


def _advice(directory: Path, party: Party) -> str:
    """How a party uses its files."""
    own, trusted = f"{INSTALLED}/{party.name}.pem", f"{INSTALLED}/ca.pem"
    lines = [f"{party.name}: copy {directory / party.name}/*.pem to {INSTALLED}/"]
    if party.role is PartyRole.SWITCH:
        lines.append(
            f"  clarion switch serve --listen 0.0.0.0:9559 --tls-certificate {own} --tls-client-ca {trusted}"
        )
        lines.append(f'  its "address" at the controller: "{_url_host(party.hosts)}:9559"')
    else:
        files = {"ca": trusted, "certificate": own, "key": own}
        lines.append(f'  its "tls" for each switch: {json.dumps(files)}')
        if party.hosts:
            lines.append(f"  clarion controller serve --listen 0.0.0.0:8443 --tls-certificate {own}")
    return "\n".join(lines)


def _url_host(hosts: Sequence[str]) -> str:
    return f"[{hosts[0]}]" if ":" in hosts[0] else hosts[0]
