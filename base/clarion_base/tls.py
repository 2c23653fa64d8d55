# SPDX-License-Identifier: Apache-2.0
"""The PEM files of a TLS server, which are read again when they change: a certificate is replaced while the
server runs.
"""

from __future__ import annotations

import argparse
import logging
import os
import ssl
import threading
from dataclasses import dataclass
from pathlib import Path

from clarion_base.errors import UserError

LOG = logging.getLogger(__name__)

_Stamp = tuple[tuple[int, int, int] | None, ...]


@dataclass(frozen=True)
class Pems:
    """The contents of the files."""

    certificate: bytes  # the chain, the server's own first
    key: bytes
    client_ca: bytes | None

    def load(self, context: ssl.SSLContext) -> None:
        """Gives the pair to a context, for the connections that it accepts from now on; ssl.SSLError."""
        file = os.memfd_create("certificate", os.MFD_CLOEXEC)  # ssl reads files only
        try:
            with open(file, "wb", closefd=False) as written:
                written.write(self.key + b"\n" + self.certificate)
            # An empty pass phrase: else OpenSSL asks for one at the terminal.
            context.load_cert_chain(f"/proc/self/fd/{file}", password=b"")
        finally:
            os.close(file)


@dataclass(frozen=True)
class TlsOptions:
    """The files that `--tls-certificate`, `--tls-key` and `--tls-client-ca` name. The key may be in the
    certificate's file. With the certificate of an authority for clients, those without one are refused.
    """

    certificate: Path
    key: Path
    client_ca: Path | None = None

    @classmethod
    def given(cls, options: argparse.Namespace) -> TlsOptions | None:
        """From the command line; None without any, UserError for a certificate that is missing."""
        certificate, key = options.tls_certificate, options.tls_key
        client_ca = getattr(options, "tls_client_ca", None)
        if certificate is not None:
            return cls(certificate, key or certificate, client_ca)
        for name, path in (("--tls-key", key), ("--tls-client-ca", client_ca)):
            if path is not None:
                raise UserError(f"{name}: needs --tls-certificate")
        return None

    def read(self) -> Pems:
        """UserError names a file that cannot be used, and why."""
        client_ca = None if self.client_ca is None else _pem("--tls-client-ca", self.client_ca)
        pems = Pems(_pem("--tls-certificate", self.certificate), _pem("--tls-key", self.key), client_ca)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            pems.load(context)
        except ssl.SSLError as error:
            raise UserError(
                f"--tls-certificate, --tls-key: {self.certificate}, {self.key}: no certificate and its key"
            ) from error
        if pems.client_ca is not None:
            try:
                context.load_verify_locations(cadata=pems.client_ca.decode("ascii", "replace"))
            except ssl.SSLError as error:
                raise UserError(f"--tls-client-ca: {self.client_ca}: {error.reason}") from error
        return pems

    def stamp(self) -> _Stamp:
        """Differs when a file has been replaced or written."""
        return tuple(_stat(path) for path in (self.certificate, self.key, self.client_ca) if path is not None)


class ReloadedPems:
    """The files of a server that runs. `pems` are those in use; UserError if they cannot be used at first."""

    def __init__(self, options: TlsOptions) -> None:
        self._options = options
        self._stamp = options.stamp()
        self._lock = threading.Lock()  # gRPC asks from several threads
        self.pems = options.read()

    def newer(self) -> Pems | None:
        """What has replaced the files since the last call; None if nothing has, or nothing of use."""
        with self._lock:
            stamp = self._options.stamp()
            if stamp == self._stamp:
                return None
            self._stamp = stamp
            try:
                pems = self._options.read()
            except UserError as error:
                LOG.warning("%s; the certificate of before stays in use", error)
                return None
            if pems == self.pems:
                return None
            self.pems = pems
        LOG.warning("%s: changed; new connections use it", self._options.certificate)
        return pems


def _stat(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_ino, found.st_size)


def _pem(option: str, path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"{option}: {path}: {error.strerror}") from error
    if b"-----BEGIN" not in content:
        raise UserError(f"{option}: {path}: not a PEM file")
    return content
