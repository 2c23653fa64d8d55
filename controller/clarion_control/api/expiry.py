# SPDX-License-Identifier: Apache-2.0
"""When the certificates that the controller uses expire."""

from __future__ import annotations

import functools
import stat
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from cryptography import x509

from clarion_p4rt.switch import Switch

MAX_BYTES = 1 << 20  # more is no PEM file
FILES = 4096  # whose expiry is kept until they change


def seconds_left(https: Path | None, switches: Iterable[Switch]) -> Iterator[tuple[str, float]]:
    """The PEM files in use, and the seconds until the first certificate in each expires; those that cannot be
    read are left out.
    """
    paths = set() if https is None else {str(https)}
    for switch in switches:
        if switch.tls is not None:
            paths |= {switch.tls.ca, switch.tls.certificate}
    for path in sorted(paths):
        try:
            found = Path(path).stat()
            if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_BYTES:
                continue
            expires_s = _expires_s(path, found.st_mtime_ns, found.st_ino, found.st_size)
        except (OSError, ValueError):
            continue
        yield path, expires_s - time.time()


@functools.lru_cache(FILES)
def _expires_s(path: str, *_stamp: int) -> float:
    return x509.load_pem_x509_certificates(Path(path).read_bytes())[0].not_valid_after_utc.timestamp()
