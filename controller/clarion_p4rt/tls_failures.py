# SPDX-License-Identifier: Apache-2.0
"""Why TLS to a switch fails. gRPC does not say it in words of its own, so the handshake is done once more."""

from __future__ import annotations

import asyncio
import socket
import ssl
from datetime import datetime, timezone
from pathlib import Path

from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

from clarion_base.addresses import UNIX
from clarion_p4rt.switch import TlsFiles

TIMEOUT_S = 2.0


async def reason(address: str, files: TlsFiles) -> str | None:
    """One line, or None if TLS is not what fails."""
    if address.startswith(UNIX):
        return None
    return await asyncio.to_thread(_reason, address, files)


def _reason(address: str, files: TlsFiles) -> str | None:
    try:
        context = ssl.create_default_context(cafile=files.ca)
        context.load_cert_chain(files.certificate, files.key, password=b"")
        context.set_alpn_protocols(["h2"])
    except OSError as error:  # ssl.SSLError is one
        said = _words(error) if isinstance(error, ssl.SSLError) else error.strerror
        return f"tls: {files.ca}, {files.certificate}, {files.key}: {said}; correct the files"
    try:
        is_accepted = _shakes_hands(address, context)
    except ssl.SSLCertVerificationError as error:
        return f"the certificate that {address} shows is refused: {error.verify_message.rstrip('.')}"
    except ssl.SSLError as error:
        return f"{address}: no TLS: {_words(error)}; does the switch serve TLS there?"
    except OSError:
        return None
    return None if is_accepted else f"{address} refuses the certificate {files.certificate}: {_fault(files)}"


def _shakes_hands(address: str, context: ssl.SSLContext) -> bool:
    """Whether the switch goes on after both have shown certificates; if not, gRPC hangs up without a word."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    with socket.create_connection((host, int(port)), TIMEOUT_S) as plain:
        try:
            with context.wrap_socket(plain, server_hostname=host) as made:
                return made.recv(1) != b""  # with TLS 1.3 the switch judges us when we have judged it
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError, ConnectionResetError):
            return False


def _fault(files: TlsFiles) -> str:
    """What is wrong with our own certificate."""
    ours = x509.load_pem_x509_certificates(Path(files.certificate).read_bytes())[0]
    now = datetime.now(timezone.utc)
    if now > ours.not_valid_after_utc:
        return f"it expired on {ours.not_valid_after_utc:%Y-%m-%d}"
    if now < ours.not_valid_before_utc:
        return f"it is valid from {ours.not_valid_before_utc:%Y-%m-%d} only"
    try:
        uses = ours.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        uses = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH])
    if ExtendedKeyUsageOID.CLIENT_AUTH not in uses:
        return "it is one of a server, not of a client"
    return "the switch does not trust who signed it"


def _words(error: ssl.SSLError) -> str:
    """OpenSSL's reason as words: KEY_VALUES_MISMATCH is "key values mismatch"."""
    return (error.reason or str(error)).lower().replace("_", " ")
