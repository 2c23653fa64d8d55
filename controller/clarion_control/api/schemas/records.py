# SPDX-License-Identifier: Apache-2.0
"""Audit and tokens."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field

from clarion_control.api.schemas.base import MAX_TIME_US, NAME, Model, Page, Whole, time_field
from clarion_control.model import AuditRecord, Origin, Role, Token
from clarion_control.store.tokens import Expiry

RoleName = Literal["viewer", "operator", "experimenter", "admin"]


class AuditView(Model):
    """A change: who, when, from what, to what. Or a sign-in, a failure or a refusal, whose `after` says from
    where, and how many there were.
    """

    id: int = Field(description="Ascending in the order of the changes.", examples=[4711])
    time_us: int = time_field("When")
    actor: str = Field(description="Name of the token, or of the part of the controller.", examples=["alice"])
    action: str = Field(description="What was done.", examples=["port.change"])
    origin: Origin = Field(description="Where it came from.")
    switch: str | None = Field(description="At which switch.", examples=["s1"])
    port: int | None = Field(description="At which port.", examples=[1])
    before: dict[str, Any] | None = Field(description="What there was before; null for nothing.")
    after: dict[str, Any] | None = Field(description="What there was after; null for nothing.")
    reason: str | None = Field(description="As the actor gave it.", examples=["maintenance"])

    @classmethod
    def of(cls, record: AuditRecord) -> AuditView:
        """From the controller's record."""
        return cls(
            id=record.id,
            time_us=record.time_us,
            actor=record.actor,
            action=record.action,
            origin=record.origin,
            switch=record.switch,
            port=record.port,
            before=None if record.before is None else dict(record.before),
            after=None if record.after is None else dict(record.after),
            reason=record.reason,
        )


def _without_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)  # null is a value of its own


class NewToken(Model):
    """A token to be made."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "grafana", "role": "viewer"}]})

    name: str = Field(description="Its user or purpose; appears in the audit.", pattern=NAME)
    role: RoleName = Field(
        description="viewer reads; operator also changes ports and policies; experimenter also runs scenarios"
        " on the controller's machine; admin does all."
    )
    expires_us: Whole | None = Field(
        None,
        description="Until when it is valid, Unix time in us; null for ever, left out for 90 days.",
        ge=0,
        le=MAX_TIME_US,
        json_schema_extra=_without_default,
    )

    @property
    def role_value(self) -> Role:
        """The role as the controller has it."""
        return Role[self.role.upper()]

    @property
    def expiry(self) -> Expiry:
        """Its end as the controller takes it: null and nothing at all are not the same."""
        return self.expires_us if "expires_us" in self.model_fields_set else "default"


class TokenView(Model):
    """A token without its secret."""

    id: int = Field(description="Its number.", examples=[3])
    name: str = Field(description="Its user or purpose.", examples=["grafana"])
    role: RoleName = Field(description="What it allows.")
    created_us: int = time_field("When it was made")
    expires_us: int | None = time_field("Until when it is valid; null for ever")
    last_used_us: int | None = time_field("When it was used last, to within a minute or so")
    revoked_us: int | None = time_field("When it was revoked; null if it was not")

    @classmethod
    def of(cls, token: Token) -> TokenView:
        """From the controller's record."""
        return cls(
            id=token.id,
            name=token.name,
            role=token.role.name.lower(),  # type: ignore[arg-type]
            created_us=token.created_us,
            expires_us=token.expires_us,
            last_used_us=token.last_used_us,
            revoked_us=token.revoked_us,
        )


class Tokens(Model):
    """All tokens, revoked ones too."""

    items: list[TokenView]


class MadeToken(Model):
    """A new token; its secret is shown this once."""

    token: TokenView
    secret: str = Field(
        description="Goes into `Authorization: Bearer`. The controller keeps only a hash of it.",
        examples=["clarion_3xAmPlE"],
    )


class Health(Model):
    """How the controller is, without names."""

    status: Literal["ok", "degraded", "failing"] = Field(
        description="degraded: some switch is unreachable or has refused; failing: the store does not answer."
    )
    store: Literal["ok", "failing"] = Field(description="Whether the database answers.")
    links: dict[str, int] = Field(
        description="Number of switches by state.", examples=[{"in-sync": 12, "unreachable": 1}]
    )
    tuner: str = Field(description="running, off, or failing.", examples=["running"])
    version: str = Field(description="Of Clarion.", examples=["0.1.0"])


class Audit(Page[AuditView]):
    """A page of changes, newest first."""


class ControllerView(Model):
    """A controller of the store."""

    name: str = Field(description="Its name.", examples=["east"])
    election_id: int = Field(
        description="Its own, the lower half of what it is primary with.", ge=1, examples=[2]
    )
    url: str = Field(
        description="Of its dashboard and API, as it says.", examples=["https://east.example.org:8443/"]
    )
    seen_us: int = time_field("Its last word, by its own clock")
    present: bool = Field(description="Whether it is heard at this moment.")
    this: bool = Field(description="Whether it is the one that answers.")
    leads: list[str] = Field(
        description="Names of the switches that it leads, as far as this one has sessions with them.",
        examples=[["s1"]],
    )


class Controllers(Model):
    """The controllers of the store, by name."""

    items: list[ControllerView]
