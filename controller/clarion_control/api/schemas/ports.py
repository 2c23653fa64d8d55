# SPDX-License-Identifier: Apache-2.0
"""Settings of ports, with the fields, defaults and ranges of the contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import ConfigDict, Field, PlainValidator, TypeAdapter, WithJsonSchema, create_model

from clarion_contract import settings_json
from clarion_contract.setting import Setting
from clarion_contract.settings import PORT, PORTS, XCP, XcpSettings
from clarion_control.api.schemas.base import Model, Whole, time_field
from clarion_control.api.schemas.links import WireView
from clarion_control.model import PortState
from clarion_p4rt.switch import Forwarding

_WHOLE: TypeAdapter[int] = TypeAdapter(Whole, config=ConfigDict(strict=True))

EXAMPLE: dict[str, Any] = {
    "xcp": asdict(XcpSettings(100_000_000)),
    "stamp": True,
    "check": True,
    "edge": False,
    "wire": True,
    "queue_limit_bytes": 1_500_000,
}


def _model(name: str, about: str, fields: Mapping[str, tuple[Any, Any]], example: Any = None) -> type[Model]:
    """A schema with these fields, each a type with a pydantic field."""
    config = ConfigDict(json_schema_extra={"examples": [example]}) if example else ConfigDict()
    base = type("Base", (Model,), {"model_config": config, "__doc__": about})
    return create_model(name, __base__=base, __doc__=about, **cast("dict[str, Any]", fields))


def _shown(field: Setting) -> tuple[Any, Any]:
    """As it is answered: always there."""
    return _type(field, field.default is None and field.table != "xcp_port", int), _stated(field)


def _given(field: Setting) -> tuple[Any, Any]:
    """As it is given in full: without it, it has its default."""
    if field.default is None and field.table == "xcp_port":
        return _type(field, False, Whole), _stated(field)
    follows = field.stable is not None and field.stable.follows
    default = None if follows else field.default
    return _type(field, default is None, Whole), _stated(field, default=default)


def _changed(field: Setting) -> tuple[Any, Any]:
    """As it is changed: null gives it its default."""
    return _type(field, True, Whole), _stated(field, default=None)


def _type(field: Setting, is_optional: bool, whole: Any) -> Any:
    type_ = {"flag": bool, "whole": whole, "real": float}[field.kind]
    if field.zero:
        type_ = _or_word(field)
    return type_ | None if is_optional else type_


def _or_word(field: Setting) -> Any:
    """A whole number, or a word: `clarion_contract.settings_json` refuses all words but the field's."""

    def check(value: Any) -> Any:
        return value if isinstance(value, str) else _WHOLE.validate_python(value)

    schema = {"anyOf": [{"type": "integer"}, {"type": "string", "const": field.zero}]}
    return Annotated[Any, PlainValidator(check), WithJsonSchema(schema)]


def _stated(field: Setting, **more: Any) -> Any:
    """A field whose schema states its range; `clarion_contract.checks` refuses what is outside it."""
    limits: dict[str, Any] = {} if field.kind == "flag" else {"minimum": field.least, "maximum": field.most}
    return Field(description=field.description, json_schema_extra=limits, **more)


NO_XCP = "null: no XCP; flows through this port get no feedback from it."
_ANSWERED = _model("Xcp", "XCP's controllers at a port.", {name: _shown(f) for name, f in XCP.items()})
_NEW = _model(
    "NewXcp",
    "XCP's controllers; what is left out has its default.",
    {name: _given(f) for name, f in XCP.items()},
)
_CHANGES = _model(
    "XcpChanges",
    "Changes of XCP's controllers; null gives a field its default.",
    {name: _changed(f) for name, f in XCP.items()},
)

if TYPE_CHECKING:  # their fields are the contract's
    Settings = Model
    NewSettings = Model
    SettingsChanges = Model
else:
    Settings = _model(
        "Settings",
        "All settings of a port.",
        {"xcp": (_ANSWERED | None, Field(description=NO_XCP))}
        | {name: _shown(field) for name, field in PORT.items()},
        EXAMPLE,
    )
    NewSettings = _model(
        "NewSettings",
        "All settings of a port; what is left out is off.",
        {"xcp": (_NEW | None, Field(None, description=NO_XCP))}
        | {name: _given(field) for name, field in PORT.items()},
        EXAMPLE,
    )
    SettingsChanges = _model(
        "SettingsChanges",
        "A merge patch (RFC 7396): what is left out stays, null switches off or gives the default.",
        {"xcp": (_CHANGES | None, Field(None, description=NO_XCP))}
        | {name: _changed(field) for name, field in PORT.items()},
        {"xcp": {"alpha": 0.3}},
    )


class Port(Model):
    """A port's desired settings, and those that the switch has confirmed."""

    switch: str = Field(description="Name of its switch.", examples=["s1"])
    port: int = Field(description="Its number at the switch.", examples=[1])
    name: str | None = Field(description="Its name for people; null without one.", examples=["right"])
    desired: Settings | None = Field(
        description="Settings that the port is to have; null until set, or until first read from the switch."
    )
    effective: Settings | None = Field(description="What the switch confirmed last; null if not known.")
    applied: bool = Field(description="Whether the switch has confirmed what is desired.")
    version: int = Field(
        description="Counts the changes of what is desired; 0 before the first. Part of the ETag.", ge=0
    )
    changed_us: int | None = time_field("Last change of what is desired")
    wire: WireView | None = Field(
        description="The wire into the port; null while the switch does not answer, or another controller is"
        " primary."
    )

    @classmethod
    def of(cls, state: PortState) -> Port:
        """From the controller's record."""
        desired = state.desired
        return cls(
            switch=state.switch.name,
            port=state.port,
            name=state.switch.port_names.get(state.port),
            desired=None if desired is None else _settings(settings_json.to_json(desired.settings)),
            effective=None if state.effective is None else _settings(settings_json.to_json(state.effective)),
            applied=state.applied,
            version=0 if desired is None else desired.version,
            changed_us=None if desired is None else desired.changed_us,
            wire=None if state.wire is None else WireView.of(state.wire),
        )


class Ports(Model):
    """The ports of a switch, ascending."""

    items: list[Port]


class ForwardingTable(Model):
    """Static forwarding of a switch."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"addresses": {"02:00:00:00:00:01": 1}, "flood_ports": [1, 2]}]}
    )

    addresses: dict[str, Whole] = Field(description="Port by Ethernet address.")
    flood_ports: list[Whole] = Field(
        description="Ports to which frames for all other addresses go.", max_length=PORTS
    )

    @classmethod
    def of(cls, forwarding: Forwarding) -> ForwardingTable:
        """From the controller's record."""
        return cls(addresses=dict(forwarding.addresses), flood_ports=list(forwarding.flood_ports))


def _settings(document: Mapping[str, Any]) -> Settings:
    return Settings.model_validate(document)
