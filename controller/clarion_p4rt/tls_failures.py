# SPDX-License-Identifier: Apache-2.0
"""Why TLS to a switch fails. gRPC does not say it in words of its own, so the handshake is done once more."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl

from clarion_base.addresses import UNIX
from clarion_p4rt.switch import TlsFiles

TIMEOUT_S = 2.0


async def reason(address: str, files: TlsFiles) -> str | None:
    """One line, or None if TLS is not what fails."""
    if address.startswith(UNIX):
        return None
    return await asyncio.to_thread(_handshake, address, files)


def _handshake(address: str, files: TlsFiles) -> str | None:
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    try:
        context = ssl.create_default_context(cafile=files.ca)
        context.load_cert_chain(files.certificate, files.key, password=b"")
        context.set_alpn_protocols(["h2"])
    except OSError as error:  # ssl.SSLError is one
        said = _words(error) if isinstance(error, ssl.SSLError) else error.strerror
        return f"tls: {files.ca}, {files.certificate}, {files.key}: {said}; correct the files"
    with contextlib.suppress(OSError), socket.create_connection((host, int(port)), TIMEOUT_S) as plain:
        try:
            with context.wrap_socket(plain, server_hostname=host) as made:
                made.recv(
                    1
                )  # with TLS 1.3 the switch judges our certificate only when we have judged its own
        except ssl.SSLCertVerificationError as error:
            return f"the certificate that {address} shows is refused: {error.verify_message.rstrip('.')}"
        except ssl.SSLError as error:
            if error.reason and "ALERT" in error.reason:
                return f"{address} refuses the certificate {files.certificate}: {_words(error)}"
            return f"{address}: no TLS: {_words(error)}; does the switch serve TLS there?"
    return None


def _words(error: ssl.SSLError) -> str:
    """OpenSSL's reason as words: SSLV3_ALERT_CERTIFICATE_EXPIRED is "certificate expired"."""
    name = error.reason or str(error)
    return name.rpartition("ALERT_")[2].lower().replace("_", " ")
