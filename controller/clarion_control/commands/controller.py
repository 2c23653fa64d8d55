# SPDX-License-Identifier: Apache-2.0
"""`clarion controller`."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from clarion_base.commands import positive
from clarion_base.tls import TlsOptions
from clarion_control import serve
from clarion_control.api.schemas.base import NAME
from clarion_control.commands.arguments import RUNNER_RESULTS, RUNNER_SOCKET, STORE_HELP, duration_s
from clarion_control.commands.oidc import add_oidc_options, oidc_options
from clarion_control.oidc_options import checked_url


def add_options(parser: argparse.ArgumentParser) -> None:
    """The commands behind `clarion controller`."""
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("serve", help="manage switches; REST API, tuner and dashboard")
    command.add_argument(
        "--listen", default="127.0.0.1:8080", metavar="HOST:PORT", help="default: 127.0.0.1:8080"
    )
    command.add_argument("--store", help=STORE_HELP)
    command.add_argument("--tls-certificate", type=Path, metavar="PEM", help="serve over TLS")
    command.add_argument("--tls-key", type=Path, metavar="PEM", help="its private key, if in another file")
    command.add_argument(
        "--insecure-http", action="store_true", help="without TLS also where others can reach it"
    )
    command.add_argument(
        "--insecure-p4runtime",
        action="store_true",
        help="reach switches on other machines without TLS, too: anyone between may reprogram them",
    )
    command.add_argument(
        "--trusted-proxy",
        action="append",
        default=[],
        metavar="ADDRESS|NETWORK",
        help="of a proxy whose Forwarded or X-Forwarded-For says who the client is; repeat it for more",
    )
    command.add_argument(
        "--host",
        action="append",
        default=[],
        metavar="NAME",
        help="that clients use for the controller, beside its address and localhost; repeat it for more",
    )
    command.add_argument(
        "--election-id",
        type=_election_id,
        default=1,
        metavar="N",
        help="of this controller, another for each; the higher one is primary (default: 1)",
    )
    command.add_argument(
        "--name", type=_name, help="of this controller, by which others know it (default: the machine's)"
    )
    command.add_argument(
        "--history",
        type=duration_s,
        default=7 * 86400.0,
        metavar="TIME",
        help="how long reports are kept, such as 12h or 7d (default: 7d)",
    )
    command.add_argument(
        "--runner",
        type=Path,
        nargs="?",
        const=RUNNER_SOCKET,
        metavar="SOCKET",
        help=f"of the runner of experiments (default: {RUNNER_SOCKET}); without, a child process runs them",
    )
    command.add_argument(
        "--experiments",
        type=Path,
        metavar="DIR",
        help=f"results of experiments (default: beside the store; with --runner: {RUNNER_RESULTS})",
    )
    command.add_argument("--no-experiments", action="store_true", help="run none; show those that report")
    command.add_argument("--no-tuner", action="store_true", help="leave tuning to another controller")
    command.add_argument("--no-dashboard", action="store_true", help="the API only")
    command.add_argument(
        "--requests-per-minute",
        type=positive,
        default=1200,
        metavar="N",
        help="that one token may make (default: 1200)",
    )
    command.add_argument(
        "--sign-in-link", metavar="TOKEN_NAME", help="print a link that signs in to the dashboard, once"
    )
    command.add_argument(
        "--public-url", metavar="URL", help="at which browsers reach it, where that is not what it listens at"
    )
    add_oidc_options(command)
    command.set_defaults(run=_serve)


def _serve(options: argparse.Namespace) -> int:
    experiments = None
    if not options.no_experiments:
        usual = RUNNER_RESULTS if options.runner else serve.default_experiments(options.store)
        experiments = options.experiments or usual
    serve.run(
        serve.ServeOptions(
            listen=options.listen,
            store=options.store,
            experiments=experiments,
            runner=options.runner,
            scenarios=options.scenario_library(),
            tls=TlsOptions.given(options),
            insecure_http=options.insecure_http,
            insecure_p4runtime=options.insecure_p4runtime,
            trusted_proxies=options.trusted_proxy,
            hosts=options.host,
            election_id=options.election_id,
            name=options.name,
            history_s=options.history,
            dashboard=not options.no_dashboard,
            tuner=not options.no_tuner,
            requests_per_minute=options.requests_per_minute,
            sign_in=options.sign_in_link,
            public_url=options.public_url and checked_url("--public-url", options.public_url),
            oidc=oidc_options(options),
        )
    )
    return 0


def _name(text: str) -> str:
    if not re.fullmatch(NAME, text):
        raise argparse.ArgumentTypeError(f"{text}: use at most 63 of letters, digits and ._-")
    return text


def _election_id(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) < 2**64:
        raise argparse.ArgumentTypeError(f"{text}: use a whole number from 1 to 2^64-1")
    return int(text)
