# SPDX-License-Identifier: Apache-2.0
"""`clarion nic`: look at an FPGA NIC and set its ports, without a controller."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from time import sleep
from typing import Any

from clarion_base.commands import positive
from clarion_contract.settings_json import to_json
from clarion_nic.driver import note, settings, views
from clarion_nic.driver.card import Card
from clarion_nic.driver.place import place
from clarion_nic.driver.views import Sample, States

SETTINGS_HELP = (
    f"one of {', '.join(settings.KEYS)}; quantities with their units, such as capacity=100G, "
    "max_interval='1 s', queue_limit='2 MB' or none; switches on or off; numbers such as alpha=0.4"
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """The commands behind `clarion nic`."""
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = _add(commands, "info", "what the card is, and its blocks of registers")
    command.set_defaults(run=_info)

    command = _add(commands, "ports", "what the ports are set to")
    command.set_defaults(run=_ports)

    command = _add(commands, "set", "change settings of a port, all that are given or none")
    command.add_argument("port", type=_port, metavar="PORT", help="its number on the card, from 0")
    command.add_argument("settings", nargs="+", metavar="KEY=VALUE", help=SETTINGS_HELP)
    command.set_defaults(run=_set)

    command = _add(commands, "counters", "what has been counted since the card was reset")
    command.set_defaults(run=_counters)

    command = _add(commands, "watch", "rates, again and again until Ctrl-C")
    command.add_argument(
        "--every", type=_seconds, default=1.0, metavar="SECONDS", help="between two looks (default: 1)"
    )
    command.add_argument("--count", type=positive, metavar="N", help="stop after so many")
    command.set_defaults(run=_watch)


def _add(commands: Any, name: str, summary: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=summary)
    which = command.add_mutually_exclusive_group()
    which.add_argument(
        "--device", metavar="BDF", help="PCI address, such as 0000:3b:00.0 (default: the only card)"
    )
    which.add_argument("--bar", type=Path, metavar="FILE", help="a file with the registers, of a simulation")
    command.add_argument(
        "--offset",
        type=_offset,
        metavar="BYTES",
        help="of the registers (default: 0x100000 in BAR 2 of a card, 0 in a file)",
    )
    command.add_argument("--json", action="store_true", help="print JSON")
    return command


def _info(options: argparse.Namespace) -> int:
    with _open(options) as card:
        known = views.info(card)
    print(json.dumps(known, indent=1) if options.json else views.info_text(known))
    return 0


def _ports(options: argparse.Namespace) -> int:
    with _open(options) as card, card.exclusive():
        _show_ports(options, [settings.present(card, port) for port in card.ports])
    return 0


def _set(options: argparse.Namespace) -> int:
    changes = settings.parsed(options.settings)
    with _open(options) as card, card.exclusive():
        served = note.is_served(card.place.path)
        _show_ports(options, [settings.change(card, options.port, changes)])
    if served:
        print("warning: an agent serves this card, and does not hear of this change", file=sys.stderr)
    return 0


def _counters(options: argparse.Namespace) -> int:
    with _open(options) as card:
        states = _sample(card).states
    if options.json:
        ports: dict[int, dict[str, Any]] = {}
        for (kind, port), state in states.items():
            ports.setdefault(port, {"port": port})[kind] = state
        print(json.dumps([ports[port] for port in sorted(ports)], indent=1))
    else:
        print(views.counters_text(states))
    return 0


def _watch(options: argparse.Namespace) -> int:
    try:
        with _open(options) as card:
            before, shown = _sample(card), 0
            while options.count is None or shown < options.count:
                sleep(options.every)
                after = _sample(card)
                found = views.rates(before, after)
                print(json.dumps(found) if options.json else views.rates_text(found), flush=True)
                before, shown = after, shown + 1
    except KeyboardInterrupt:  # how it is ended
        print()
    return 0


def _show_ports(options: argparse.Namespace, ports: list[Any]) -> None:
    if options.json:
        print(json.dumps([{"port": each.port, **to_json(each)} for each in ports], indent=1))
    else:
        print(views.ports_text(ports))


def _open(options: argparse.Namespace) -> Card:
    return Card(place(options.device, options.bar, options.offset))


def _sample(card: Card) -> Sample:
    with card.exclusive():
        ticks = card.now()
        states: States = {key: card.read(unit) for key, unit in card.units.items()}
    return Sample(ticks, states)


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise argparse.ArgumentTypeError(f"{text}: use the number of a port, from 0")
    return int(text)


def _offset(text: str) -> int:
    try:
        offset = int(text, 0)
    except ValueError:
        offset = -1
    if offset < 0:
        raise argparse.ArgumentTypeError(f"{text}: use a number of bytes such as 0x100000")
    return offset


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 86400:
        raise argparse.ArgumentTypeError(f"{text}: use a number of seconds such as 1 or 0.5")
    return seconds
