# SPDX-License-Identifier: Apache-2.0
"""The options of `clarion controller serve` for signing in by OpenID Connect."""

from __future__ import annotations

import argparse
from pathlib import Path

from clarion_base.errors import UserError
from clarion_control.model import Role
from clarion_control.oidc_options import OidcOptions, checked_url

_NEEDED = {"oidc_client_id": "--oidc-client-id ID", "oidc_role": "--oidc-role GROUP=ROLE"}


def add_oidc_options(command: argparse.ArgumentParser) -> None:
    """All that begin with --oidc-."""
    group = command.add_argument_group("sign-in to the dashboard by OpenID Connect")
    group.add_argument("--oidc-issuer", metavar="URL", help="the provider; its discovery has all the rest")
    group.add_argument("--oidc-client-id", metavar="ID", help="as the provider knows this controller")
    group.add_argument(
        "--oidc-client-secret-file", type=Path, metavar="FILE", help="none for a public client"
    )
    group.add_argument(
        "--oidc-role",
        type=_role,
        action="append",
        metavar="GROUP=ROLE",
        help="what members of a group may do; can be given again. Who is in none of them is refused",
    )
    group.add_argument(
        "--oidc-groups", default="groups", metavar="CLAIM", help="that lists the groups (default: groups)"
    )
    group.add_argument(
        "--oidc-name",
        default="sub",
        metavar="CLAIM",
        help="that names a person in the audit (default: sub, which no two people ever share)",
    )
    group.add_argument(
        "--oidc-scope",
        default="openid profile email",
        metavar="SCOPES",
        help='asked for (default: "openid profile email")',
    )


def oidc_options(options: argparse.Namespace) -> OidcOptions | None:
    """None without an issuer; UserError for options that do not fit together."""
    if options.oidc_issuer is None:
        given = [name for name in (*_NEEDED, "oidc_client_secret_file") if getattr(options, name)]
        if given:
            option = "--" + given[0].replace("_", "-")
            raise UserError(f"{option}: is of use with --oidc-issuer URL only")
        return None
    for name, option in _NEEDED.items():
        if not getattr(options, name):
            raise UserError(f"--oidc-issuer: give {option}, too; nobody could sign in without")
    if "openid" not in options.oidc_scope.split():
        raise UserError(f"--oidc-scope: {options.oidc_scope}: openid is missing")
    checked_url("--oidc-issuer", options.oidc_issuer)
    return OidcOptions(
        issuer=options.oidc_issuer,
        client_id=options.oidc_client_id,
        roles=dict(options.oidc_role),
        client_secret=_secret(options.oidc_client_secret_file),
        groups_claim=options.oidc_groups,
        name_claim=options.oidc_name,
        scope=options.oidc_scope,
    )


def _role(text: str) -> tuple[str, Role]:
    group, _, role = text.rpartition("=")  # a group may be an LDAP name, with more of them
    if not group or role.upper() not in Role.__members__:
        roles = ", ".join(each.name.lower() for each in Role)
        raise argparse.ArgumentTypeError(f"{text}: write GROUP=ROLE; roles are {roles}")
    return group, Role[role.upper()]


def _secret(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        secret = path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a text file"
        raise UserError(f"--oidc-client-secret-file: {path}: {reason}") from error
    if not secret:
        raise UserError(f"--oidc-client-secret-file: {path}: is empty")
    return secret
