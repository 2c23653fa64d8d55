# SPDX-License-Identifier: Apache-2.0
"""Switches as they are added, and how they are doing."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from clarion_contract.settings import PORTS
from clarion_control.api.schemas.base import NAME, Model, Whole, time_field
from clarion_control.model import LinkState, SwitchStatus
from clarion_p4rt.switch import Switch, TlsFiles

EXAMPLE: dict[str, Any] = {
    "name": "s1",
    "address": "127.0.0.1:9559",
    "device_id": 1,
    "ports": [1, 2],
    "port_names": {"1": "right", "2": "h1"},
}
ADDRESS = (
    r"^((\[[0-9A-Fa-f:.%]+\]|[A-Za-z0-9][A-Za-z0-9._-]*):[0-9]{1,5}"
    r"|unix:/[^/\x00-\x1f\x7f][^\x00-\x1f\x7f]{0,105})$"
)
ADDRESS_HELP = "HOST:PORT of its P4Runtime server, or unix:/PATH of its socket on the controller's machine."
TLS_HELP = "null: without TLS, for a switch on the controller's machine only."
FILE = r"^/[^\x00-\x1f\x7f]+$"
PortKey = Annotated[str, Field(pattern=r"^(0|[1-9][0-9]?)$")]
PortName = Annotated[str, Field(pattern=NAME)]


class Tls(Model):
    """Mutual TLS to the switch: PEM files on the controller's machine."""

    ca: str = Field(
        description="Who signed the switch's certificate.",
        max_length=4096, pattern=FILE, examples=["/etc/clarion/ca.pem"],
    )  # fmt: skip
    certificate: str = Field(
        description="The controller's certificate.",
        max_length=4096, pattern=FILE, examples=["/etc/clarion/controller.pem"],
    )  # fmt: skip
    key: str = Field(
        description="Its key, which may be in the same file.",
        max_length=4096, pattern=FILE, examples=["/etc/clarion/controller.pem"],
    )  # fmt: skip

    def files(self) -> TlsFiles:
        """For the controller."""
        return TlsFiles(self.ca, self.certificate, self.key)


class NewSwitch(Model):
    """A switch to be added."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    name: str = Field(description="Name of the switch at this controller.", pattern=NAME)
    address: str = Field(description=ADDRESS_HELP, max_length=255, pattern=ADDRESS)
    device_id: Whole = Field(description="Its P4Runtime device id.", ge=1, le=2**63 - 1)
    ports: list[Annotated[Whole, Field(ge=0, lt=PORTS)]] = Field(
        description="Numbers of the ports that it has.", min_length=1, max_length=PORTS
    )
    port_names: dict[PortKey, PortName] = Field(
        default_factory=dict,
        description="Names of ports by number, for people; ports may be left out.",
        max_length=PORTS,
        examples=[{"1": "right", "2": "h1"}],
    )
    tls: Tls | None = Field(None, description=TLS_HELP)


class SwitchChanges(Model):
    """How a switch is reached, and what its ports are called; what is left out stays."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"address": "127.0.0.1:9560"}]})

    address: str = Field("", description=ADDRESS_HELP, max_length=255, pattern=ADDRESS)
    port_names: dict[PortKey, PortName] = Field(
        default_factory=dict, description="All names of ports by number.", max_length=PORTS
    )
    tls: Tls | None = Field(None, description=TLS_HELP)

    def applied(self, switch: Switch) -> Switch:
        """The switch with these changes."""
        changed: dict[str, Any] = {}
        if "address" in self.model_fields_set:
            changed["address"] = self.address
        if "port_names" in self.model_fields_set:
            changed["port_names"] = {int(port): name for port, name in self.port_names.items()}
        if "tls" in self.model_fields_set:
            changed["tls"] = None if self.tls is None else self.tls.files()
        return replace(switch, **changed)


class Status(Model):
    """The controller's session with a switch."""

    state: LinkState = Field(
        description="connecting; unreachable; backup: another controller is primary; syncing: its entries are"
        " being made equal to what is desired; in-sync; refused: it did not take an entry or the program."
    )
    since_us: int = time_field("When that began")
    reason: str | None = Field(description="One line, where it is unreachable or has refused.")
    reconnects: int = Field(description="How often the session broke.", ge=0)
    reports: int = Field(description="Reports that came so far.", ge=0)
    last_report_us: int | None = time_field("When the last one came")

    @classmethod
    def of(cls, status: SwitchStatus) -> Status:
        """From the controller's record."""
        return cls(
            state=status.state,
            since_us=status.since_us,
            reason=status.reason,
            reconnects=status.reconnects,
            reports=status.reports,
            last_report_us=status.last_report_us,
        )


class SwitchView(Model):
    """A switch."""

    name: str = Field(description="Its name.", examples=["s1"])
    uid: int = Field(description="Tells it from an earlier switch of the same name.", examples=[1])
    address: str = Field(description=ADDRESS_HELP, examples=["127.0.0.1:9559"])
    device_id: int = Field(description="Its P4Runtime device id.", examples=[1])
    ports: list[int] = Field(description="Numbers of its ports, ascending.", examples=[[1, 2]])
    port_names: dict[str, str] = Field(
        description="Names of ports by number, of those that have one.", examples=[{"1": "right", "2": "h1"}]
    )
    tls: Tls | None = Field(description=TLS_HELP)
    added_us: int = time_field("When it was added")
    status: Status
    primary: str | None = Field(
        description="Name of the controller that leads this switch; null: no primary, or this one has no"
        " session with the switch.",
        examples=["east"],
    )

    @classmethod
    def of(cls, switch: Switch, status: SwitchStatus, primary: str | None) -> SwitchView:
        """From the controller's records."""
        tls = switch.tls
        return cls(
            name=switch.name,
            uid=switch.uid,
            address=switch.address,
            device_id=switch.device_id,
            ports=list(switch.ports),
            port_names={str(port): name for port, name in switch.port_names.items()},
            tls=None if tls is None else Tls(ca=tls.ca, certificate=tls.certificate, key=tls.key),
            added_us=switch.added_us,
            status=Status.of(status),
            primary=primary,
        )


class Switches(Model):
    """All switches, by name."""

    items: list[SwitchView]
