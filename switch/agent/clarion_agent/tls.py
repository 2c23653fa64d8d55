# SPDX-License-Identifier: Apache-2.0
"""The files of a TLS server."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from clarion_base.errors import UserError

if TYPE_CHECKING:
    from grpc import ServerCredentials


@dataclass(frozen=True)
class TlsOptions:
    """PEM files. With the certificate of an authority for clients, clients without one are refused."""

    certificate: Path
    key: Path
    client_ca: Path | None = None

    def credentials(self) -> ServerCredentials:
        """gRPC's credentials from these files; UserError names one that cannot be used."""
        from grpc import ssl_server_credentials

        authority = None if self.client_ca is None else _pem("--tls-client-ca", self.client_ca)
        pair = (_pem("--tls-key", self.key), _pem("--tls-certificate", self.certificate))
        self._try_out()
        return ssl_server_credentials([pair], authority, require_client_auth=authority is not None)

    def _try_out(self) -> None:
        """Load the files with `ssl` first, because gRPC does not say what is wrong with one."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            context.load_cert_chain(self.certificate, self.key)
        except OSError as error:  # ssl.SSLError is one; a key that needs a pass phrase is another
            raise UserError(
                f"--tls-certificate, --tls-key: {self.certificate}, {self.key}: no certificate and its key"
            ) from error
        if self.client_ca is not None:
            try:
                context.load_verify_locations(self.client_ca)
            except ssl.SSLError as error:
                raise UserError(f"--tls-client-ca: {self.client_ca}: {error.reason}") from error


def _pem(option: str, path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"{option}: {path}: {error.strerror}") from error
    if b"-----BEGIN" not in content:
        raise UserError(f"{option}: {path}: not a PEM file")
    return content
