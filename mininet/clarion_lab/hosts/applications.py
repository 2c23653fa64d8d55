# SPDX-License-Identifier: Apache-2.0
"""Unmodified applications on the hosts of a run: their files, configuration and commands, and whether what
arrived is what was sent.

Everything is in a directory of the run on tmpfs, so no disk limits a transfer, and nothing of the system's
own configuration is read or changed.
"""

from __future__ import annotations

import hashlib
import random
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clarion_lab.scenario.flows import Flow
from clarion_lab.scenario.model import Scenario
from clarion_lab.scenario.topology import Endpoints, PlannedHost
from clarion_lab.scenario.tunnel import inner_address

FIRST_CONTROL_PORT = 30_001  # of FTP's servers; a flow's server listens there + its number
WATCHED = (sys.executable, str(Path(__file__).with_name("watched_client.py")))
NAME = "file.bin"
BLOCK_BYTES = 1 << 20
USER = "ftp"  # whom anonymous sessions run as; vsftpd's package makes it
PATIENCE_S = 86_400  # of both ends of FTP; how long a transfer takes is measured, not bounded

VSFTPD = """\
background=NO
listen=YES
listen_address={address}
listen_port={control}
pasv_enable=YES
pasv_min_port={data}
pasv_max_port={data}
anonymous_enable=YES
local_enable=NO
no_anon_password=YES
anon_root={root}
ftp_username={user}
write_enable=YES
anon_upload_enable=YES
anon_umask=022
secure_chroot_dir={empty}
isolate_network=NO
xferlog_enable=NO
idle_session_timeout={patience}
data_connection_timeout={patience}
"""
LFTP = "; ".join(
    (
        "set cmd:fail-exit yes",
        "set ftp:passive-mode yes",
        "set ftp:prefer-epsv no",
        "set ftp:ssl-allow no",
        "set net:max-retries 1",
        f"set net:timeout {PATIENCE_S}",
        "open -u anonymous,clarion ftp://{address}:{control}",
        "{what}",
    )
)


@dataclass(frozen=True)
class Session:
    """One application: who serves, who calls, and where the file comes from and goes to."""

    flow: Flow
    client: PlannedHost
    server: PlannedHost
    address: str  # of the server
    port: int  # of the server, for the file itself
    directory: Path

    @property
    def control_port(self) -> int:
        """Where the server listens."""
        assert self.flow.application is not None
        return FIRST_CONTROL_PORT + self.flow.number if self.flow.application.name == "ftp" else self.port

    @property
    def size(self) -> int:
        """Of the file, bytes."""
        assert self.flow.size_bytes is not None
        return self.flow.size_bytes

    @property
    def _puts(self) -> bool:
        assert self.flow.application is not None
        return self.flow.application.put

    @property
    def _served(self) -> Path:
        return self.directory / "served"

    @property
    def source(self) -> Path:
        """The file that is sent."""
        return (self.directory / "client" if self._puts else self._served) / NAME

    @property
    def destination(self) -> Path:
        """The file that it becomes."""
        return (self._served / "incoming" if self._puts else self.directory / "client") / NAME

    def prepare(self, seed: int) -> str:
        """Makes the directories, the server's configuration and the file; the file's SHA-256."""
        for name in ("client", "empty", "served/incoming"):
            (self.directory / name).mkdir(parents=True)
        for path in (self.directory, self._served, self.directory / "empty"):
            path.chmod(0o755)
        if self.flow.application is not None and self.flow.application.name == "ftp":
            shutil.chown(self._served / "incoming", USER)
            (self.directory / "vsftpd.conf").write_text(self.server_configuration())
        return write_random(self.source, self.size, f"{seed} {self.flow.number}")

    def server_configuration(self) -> str:
        """Of vsftpd."""
        return VSFTPD.format(
            address=self.address,
            control=self.control_port,
            data=self.port,
            root=self._served,
            empty=self.directory / "empty",
            user=USER,
            patience=PATIENCE_S,
        )

    def server_command(self) -> list[str]:
        """In a process namespace of its own, so that the processes of its sessions end with it."""
        assert self.flow.application is not None
        alone = ["unshare", "--fork", "--pid", "--kill-child=KILL"]
        if self.flow.application.name == "ftp":
            return [*alone, "vsftpd", str(self.directory / "vsftpd.conf")]
        where = ["--bind", self.address, "--directory", str(self._served), str(self.port)]
        return [*alone, sys.executable, "-I", "-m", "http.server", *where]

    def client_command(self, at_ns: int) -> list[str]:
        """The client, watched; it starts at a time of CLOCK_MONOTONIC."""
        options = {"at-ns": at_ns, "file": self.destination, "bytes": self.size, "log": self.log}
        watched = [part for name, value in options.items() for part in (f"--{name}", str(value))]
        return [*WATCHED, *watched, "--", *self._client()]

    @property
    def server_log(self) -> Path:
        """What the server says."""
        return self.directory / "server.log"

    @property
    def log(self) -> Path:
        """What the client says."""
        return self.directory / "client" / "log"

    def _client(self) -> list[str]:
        assert self.flow.application is not None
        if self.flow.application.name == "http":
            url = f"http://{self.address}:{self.port}/{NAME}"
            return ["curl", "-q", "-sS", "--fail", "--noproxy", "*", "-o", str(self.destination), url]
        what = f"put -O incoming {self.source}" if self._puts else f"get -O {self.destination.parent} {NAME}"
        script = LFTP.format(address=self.address, control=self.control_port, what=what)
        return ["lftp", "--norc", "-c", script]

    def received_bytes(self) -> int:
        """What has come of the file so far."""
        try:
            return self.destination.stat().st_size
        except FileNotFoundError:
            return 0


def session(scenario: Scenario, flow: Flow, ends: Endpoints, directory: Path) -> Session:
    """That of a flow whose ends are known; `directory` is the run's on tmpfs."""
    assert flow.application is not None
    client, server = (ends.sender, ends.receiver) if flow.application.put else (ends.receiver, ends.sender)
    place = directory / f"flow-{flow.number + 1}"
    address = inner_address(server.address) if scenario.tunnel else server.address
    return Session(flow, client, server, address, ends.dport or ends.sport, place)


def outcome(made: Session, told: Mapping[str, Any], sha256: str, zero_us: int) -> dict[str, Any]:
    """The result of a session as the summary has it; `told` is what its watched client said, `sha256` that of
    the file that was sent, `zero_us` the run's start on CLOCK_MONOTONIC. Times count from the flow's start.
    """
    assert made.flow.application is not None
    start_ns = (zero_us + made.flow.start_us) * 1000

    def since_start_s(key: str) -> float | None:
        at_ns = told.get(key)
        return None if at_ns is None else (at_ns - start_ns) / 1e9

    last_s = since_start_s("last_byte_ns")
    arrived = digest(made.destination) if last_s is not None else None
    return {
        "name": made.flow.application.name,
        "transfer": made.flow.application.transfer,
        "client": made.client.name,
        "server": made.server.name,
        "received_bytes": told.get("received_bytes", 0),
        "first_byte_s": since_start_s("first_byte_ns"),
        "last_byte_s": last_s,
        "completed_s": None if "error" in told else since_start_s("ended_ns"),
        "mean_bits_per_s": None if not last_s else made.size * 8 / last_s,
        "sha256": sha256,
        "checksum_equal": None if arrived is None else arrived == sha256,
    }


def write_random(path: Path, size: int, seed: str) -> str:
    """Fills a file with the random bytes of a seed; their SHA-256."""
    source = random.Random(seed)
    found = hashlib.sha256()
    with path.open("wb") as file:
        for offset in range(0, size, BLOCK_BYTES):
            block = source.randbytes(min(BLOCK_BYTES, size - offset))
            file.write(block)
            found.update(block)
    path.chmod(0o644)
    return found.hexdigest()


def digest(path: Path) -> str:
    """A file's SHA-256."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            found.update(block)
    return found.hexdigest()
