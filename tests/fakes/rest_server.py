# SPDX-License-Identifier: Apache-2.0
"""The API on a real socket: uvicorn in a thread, with a controller over fake switches in its event loop."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import uvicorn

from fakes.rest import Rig, open_rig
from fakes.switch import FakeSwitch

T = TypeVar("T")
DEADLINE_S = 30.0


class Served:
    """A running server."""

    def __init__(self, tmp_path: Path, switches: tuple[FakeSwitch, ...], options: dict[str, Any]) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.socket.getsockname()[1]
        self.rig: Rig
        self._tls: dict[str, Any] = options.pop("tls", {})
        self.url = f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"
        self._tmp_path = tmp_path
        self._switches = switches
        self._options = options
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._main, name="rest server")

    def __enter__(self) -> Served:
        self._thread.start()
        if not self._ready.wait(DEADLINE_S) or self._failure is not None:
            self.stop()
            raise AssertionError("the server does not start") from self._failure
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Shuts down as on a signal: event streams end, then the server."""
        if self._thread.is_alive() and self._ready.is_set() and self._failure is None:
            self._loop.call_soon_threadsafe(self._begin_to_end)
        self._thread.join(DEADLINE_S)
        self.socket.close()
        assert not self._thread.is_alive(), "the server does not end"

    def do(self, action: Callable[[], Awaitable[T]]) -> T:
        """Runs a coroutine in the server's event loop."""

        async def run() -> T:
            return await action()

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result(DEADLINE_S)

    def tell(self, action: Callable[[], object]) -> None:
        """Runs a plain function in the server's event loop."""

        async def run() -> None:
            action()

        self.do(run)

    def _main(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            self._failure = error
            self._ready.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        async with open_rig(self._tmp_path, *self._switches, **self._options) as self.rig:
            config = uvicorn.Config(
                self.rig.app,
                lifespan="off",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                timeout_graceful_shutdown=5,
                **self._tls,
            )
            self._server = uvicorn.Server(config)
            self._loop.call_soon(self._ready.set)  # connections wait in the socket until it accepts
            await self._server.serve(sockets=[self.socket])

    def _begin_to_end(self) -> None:
        self.rig.app.state.clarion_api.streams.close()
        self._server.should_exit = True


@contextlib.contextmanager
def served(tmp_path: Path, *switches: FakeSwitch, **options: Any) -> Iterator[Served]:
    """A server; `options` are those of `open_rig`, and `tls` of uvicorn."""
    with Served(tmp_path, switches, options) as made:
        yield made
