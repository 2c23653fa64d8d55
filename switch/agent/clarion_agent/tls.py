# SPDX-License-Identifier: Apache-2.0
"""gRPC's credentials of a server whose files are read again when they change."""

from __future__ import annotations

import grpc

from clarion_base.tls import Pems, ReloadedPems, TlsOptions


def credentials(options: TlsOptions) -> grpc.ServerCredentials:
    """Each connection gets what the files hold when it begins. UserError for files that cannot be used."""
    files = ReloadedPems(options)

    def changed() -> grpc.ServerCertificateConfiguration | None:
        pems = files.newer()
        return None if pems is None else _configuration(pems)

    return grpc.dynamic_ssl_server_credentials(
        _configuration(files.pems),
        changed,  # type: ignore[arg-type]  # None is "as before"
        require_client_authentication=options.client_ca is not None,
    )


def _configuration(pems: Pems) -> grpc.ServerCertificateConfiguration:
    return grpc.ssl_server_certificate_configuration([(pems.key, pems.certificate)], pems.client_ca)
