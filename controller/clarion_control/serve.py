# SPDX-License-Identifier: Apache-2.0
"""`clarion controller serve`: the controller with tuner, REST API and dashboard, until a signal."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import re
import resource
import signal
import socket
import ssl
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import uvicorn

from clarion_base.addresses import is_loopback
from clarion_base.errors import UserError
from clarion_base.tls import ReloadedPems, TlsOptions
from clarion_control import https
from clarion_control.api.app import create_app
from clarion_control.api.front import Front
from clarion_control.api.hosts import Hosts
from clarion_control.api.options import ApiOptions
from clarion_control.api.proxies import Proxies, networks
from clarion_control.controller import Controller
from clarion_control.experiments.client import RunnerClient
from clarion_control.experiments.library import ScenarioLibrary
from clarion_control.experiments.service import Experiments
from clarion_control.oidc_options import OidcOptions
from clarion_control.store import Store, tokens
from clarion_control.store import engine as engines

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import ASGIApp

    from clarion_control.dashboard import Dashboard
    from clarion_control.tuner.loop import Tuner

SWITCH_INTERVAL_S = 0.0005  # for which a thread of the store may wait for the event loop's to pause
DRAIN_S = 5.0  # limit of a request under way after SIGTERM


@dataclass(frozen=True)
class ServeOptions:
    """The options of the command line."""

    listen: str = "127.0.0.1:8080"
    store: str | None = None
    experiments: Path | None = None  # None: none can be run, those of others are shown
    runner: Path | None = None  # socket of a runner; None: one of its own
    scenarios: ScenarioLibrary | None = None  # None: not even that
    tls: TlsOptions | None = None
    insecure_http: bool = False
    insecure_p4runtime: bool = False
    election_id: int = 1
    name: str | None = None  # None: of the machine
    history_s: float = 7 * 86400
    dashboard: bool = True
    tuner: bool = True
    requests_per_minute: int = 1200  # of one token
    trusted_proxies: Sequence[str] = ()  # addresses and networks
    hosts: Sequence[str] = ()  # names that the controller answers to, beside its address and localhost
    sign_in: str | None = None  # name of a token for which a link to the dashboard is printed
    public_url: str | None = None  # at which browsers reach the dashboard; None: that of the listener
    oidc: OidcOptions | None = None


def run(options: ServeOptions) -> None:
    """Serves until SIGTERM or SIGINT."""
    logging.basicConfig(format="clarion controller: %(message)s", level=logging.WARNING)
    logging.getLogger("alembic").setLevel(logging.WARNING)
    _allow_many_switches()
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    host, port = _checked_listen(options)
    files = None if options.tls is None else ReloadedPems(options.tls)
    asyncio.run(_run(options, host, port, files))


async def _run(options: ServeOptions, host: str, port: int, files: ReloadedPems | None) -> None:
    proxies = Proxies(networks(options.trusted_proxies))
    named = [*options.hosts, *_host_of(options.public_url)]
    hosts = Hosts.around(host, named, tls=files is not None)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    with _listener(host, port) as listener:
        url = _url(listener, secure=files is not None)
        async with https.context(files) as context, _application(options, url) as (app, store, dashboard):
            front = Front(app, proxies, hosts, https=_is_https(options.public_url))
            server = _Server(_config(front, context))
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            try:
                await _started(server, serving)
                await _announce(options, url, store, dashboard)
                gc.collect()
                gc.freeze()  # what is there by now stays: to visit it again and again takes 0.1 s each time
                stopped = asyncio.create_task(stop.wait())
                await asyncio.wait([stopped, serving], return_when=asyncio.FIRST_COMPLETED)
                stopped.cancel()
            finally:
                app.state.clarion_api.streams.close()
                server.should_exit = True
                await serving


@contextlib.asynccontextmanager
async def _application(
    options: ServeOptions, url: str
) -> AsyncIterator[tuple[FastAPI, Store, Dashboard | None]]:
    """All parts, opened in the order in which they need each other."""
    async with contextlib.AsyncExitStack() as stack:
        store = await asyncio.to_thread(Store.open, options.store)
        stack.push_async_callback(store.close)
        controller = await Controller.open(
            store,
            election_id=options.election_id,
            name=options.name,
            url=_reachable(url),
            history_s=options.history_s,
            insecure=options.insecure_p4runtime,
        )
        stack.push_async_callback(controller.close)
        experiments = None
        if options.scenarios is not None:
            results = options.experiments
            runner = None if results is None else RunnerClient(results, options.runner)
            experiments = await Experiments.open(controller, runner, options.scenarios)
            stack.push_async_callback(experiments.close)
        tuner = None
        if options.tuner:
            from clarion_control.tuner.loop import Tuner

            tuner = Tuner(controller)
            await tuner.start()
            stack.push_async_callback(tuner.close)
        app = create_app(
            controller,
            experiments=experiments,
            options=ApiOptions(
                requests_per_minute=options.requests_per_minute,
                certificate=None if options.tls is None else options.tls.certificate,
            ),
            tuner_state=lambda: _tuner_state(tuner),
            tuner=tuner,
        )
        dashboard = None
        if options.dashboard:
            from clarion_control import dashboard as pages

            public_url = options.public_url or url.rstrip("/")
            dashboard = pages.mount(
                app,
                controller,
                experiments=experiments,
                tuner=tuner,
                oidc=options.oidc,
                public_url=public_url,
            )
        yield app, store, dashboard


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are ours: event streams have to end before uvicorn waits for them."""
        yield


def _config(app: ASGIApp, context: ssl.SSLContext | None) -> uvicorn.Config:
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        proxy_headers=False,  # `Front` has its own, which believes named proxies only
        server_header=False,
        timeout_graceful_shutdown=int(DRAIN_S),
    )
    config.load()
    config.ssl = context
    return config


async def _started(server: uvicorn.Server, serving: asyncio.Task[None]) -> None:
    while not server.started:
        if serving.done():
            await serving
            raise UserError("the web server did not start; its log says why")
        await asyncio.sleep(0.01)


async def _announce(options: ServeOptions, url: str, store: Store, dashboard: Dashboard | None) -> None:
    where = "dashboard and API" if dashboard is not None else "API"
    print(f"clarion controller: {where} at {url} (API under /v1)", flush=True)
    if await store.read(tokens.count_valid) == 0:
        place = f" --store {options.store}" if options.store else ""
        hint = f"clarion token create NAME --role admin{place}"
        print(f"clarion controller: there is no token yet; create one: {hint}", file=sys.stderr)
    if options.sign_in is not None and dashboard is not None:
        found = [each for each in await store.read(tokens.listed) if each.name == options.sign_in]
        if not found:
            raise UserError(f"--sign-in-link: {options.sign_in}: there is no token of that name")
        base_url = options.public_url or url
        print(f"sign in: {dashboard.sign_in_link(base_url, found[0].id)}", flush=True)


def _allow_many_switches() -> None:
    """A connection to each switch takes a descriptor or two, and 1024 are the rule."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _host_of(public_url: str | None) -> list[str]:
    host = None if public_url is None else urlsplit(public_url).hostname
    return [] if host is None else [host]


def _is_https(public_url: str | None) -> bool:
    """Whether browsers come by HTTPS, whatever a proxy makes of it."""
    return public_url is not None and urlsplit(public_url).scheme == "https"


def _tuner_state(tuner: Tuner | None) -> str:
    if tuner is None:
        return "off"
    return "failing" if tuner.health() else "running"


def _checked_listen(options: ServeOptions) -> tuple[str, int]:
    host, _, port = options.listen.rpartition(":")
    host = host.strip("[]")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise UserError(f"--listen: {options.listen}: write HOST:PORT, such as 127.0.0.1:8080")
    if options.tls is None and not options.insecure_http and not is_loopback(host):
        raise UserError(
            f"--listen: {host}: tokens would travel in the clear; give --tls-certificate and --tls-key, or "
            "--insecure-http behind a proxy that does TLS"
        )
    if options.oidc is not None and options.public_url is None and not is_loopback(host):
        raise UserError("--oidc-issuer: give --public-url, too: the provider sends browsers back to it")
    return host, int(port)


@contextlib.contextmanager
def _listener(host: str, port: int) -> Iterator[socket.socket]:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.create_server(address, family=family, backlog=2048)
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not the name of a host"
        raise UserError(f"--listen: {host}:{port}: {reason}; choose another address or port") from error
    with listener:
        listener.setblocking(False)
        # asyncio sets it only on sockets that were made with the protocol's number. Without it each answer
        # waits for the client's delayed acknowledgement.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield listener


def _url(listener: socket.socket, *, secure: bool) -> str:
    host, port = listener.getsockname()[:2]
    name = f"[{host}]" if ":" in host else host
    return f"{'https' if secure else 'http'}://{name}:{port}/"


def _reachable(url: str) -> str:
    """The URL with the machine's name in place of an address that stands for all of its own."""
    return re.sub(r"//(0\.0\.0\.0|\[::\]):", f"//{socket.gethostname()}:", url)


def default_experiments(store: str | None) -> Path:
    """Beside a SQLite file; for PostgreSQL where the SQLite file would be."""
    url = engines.location(store)
    path = Path(url.database or "") if engines.is_sqlite(url) else Path(engines.DEFAULT)
    return path.with_name("experiments")
