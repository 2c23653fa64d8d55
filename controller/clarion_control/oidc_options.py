# SPDX-License-Identifier: Apache-2.0
"""Whom the dashboard lets in by OpenID Connect: the provider, and the roles of its groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from clarion_base.addresses import is_loopback
from clarion_base.errors import UserError
from clarion_control.model import OIDC_PREFIX, Actor, Role

MAX_NAME = 64


class NotAdmittedError(UserError):
    """Somebody whom the provider knows, and who may not sign in here."""


@dataclass(frozen=True)
class OidcOptions:
    """The options of the command line."""

    issuer: str
    client_id: str
    roles: Mapping[str, Role]  # by group
    client_secret: str | None = None  # None: a public client, which PKCE alone protects
    groups_claim: str = "groups"
    name_claim: str = "sub"
    scope: str = "openid profile email"

    @property
    def provider(self) -> str:
        """The host of the issuer, by which people know the provider."""
        return urlsplit(self.issuer).netloc

    def person(self, claims: Mapping[str, Any]) -> Actor:
        """Who signs in with these claims, as the audit names them, with the highest of their roles."""
        name = claims.get(self.name_claim)
        if not isinstance(name, str) or not 1 <= len(name) <= MAX_NAME or not name.isprintable():
            needed = f"a claim {self.name_claim} of 1 to {MAX_NAME} printable characters"
            raise NotAdmittedError(f"{self.provider} sent no name of yours: Clarion needs {needed}.")
        groups = claims.get(self.groups_claim, [])
        named = [groups] if isinstance(groups, str) else groups if isinstance(groups, list) else []
        roles = [self.roles[group] for group in named if isinstance(group, str) and group in self.roles]
        if not roles:
            raise NotAdmittedError(
                f"You are signed in at {self.provider} as {name}, and none of your groups has a role in"
                " Clarion. Ask an admin of Clarion for one."
            )
        return Actor(OIDC_PREFIX + name, max(roles))


def checked_url(option: str, url: str) -> str:
    """The URL without a slash at its end; UserError unless it is https, or http on this machine."""
    parts = urlsplit(url)
    try:
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https") or parts.query or parts.fragment or parts.username:
        raise UserError(f"{option}: {url}: write a URL such as https://clarion.example.org")
    if parts.scheme == "http" and not is_loopback(host):
        raise UserError(f"{option}: {url}: sign-ins would travel in the clear; use https")
    return url.rstrip("/")
