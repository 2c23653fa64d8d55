# SPDX-License-Identifier: Apache-2.0
"""X.509 certificates (RFC 5280) of an authority, and of the switches and controllers that it knows."""

from __future__ import annotations

import enum
import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from clarion_base.errors import UserError

AUTHORITY_VALID = timedelta(days=3650)
VALID = timedelta(days=397)  # what browsers accept, too
CLOCK_SKEW = timedelta(minutes=5)  # by which the clock of a machine may be late

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_DNS_NAME = re.compile(rf"(?=.{{1,253}}$){_LABEL}(\.{_LABEL})*")


class PartyRole(enum.Enum):
    """Which side of a connection a certificate is for: that of a switch is of no use to a client."""

    SWITCH = "switch"  # serves P4Runtime
    CONTROLLER = "controller"  # is a client of switches, and serves HTTPS where it has hosts


@dataclass(frozen=True)
class Party:
    """Who a certificate is for. `hosts` are names or IP addresses under which others reach it."""

    name: str
    role: PartyRole
    hosts: tuple[str, ...]


@dataclass(frozen=True)
class Signed:
    """A certificate and its private key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    def pem(self) -> bytes:
        """Both, so that whoever reads the file never gets one without the other."""
        key = self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return key + pem_of([self.certificate])

    @classmethod
    def of(cls, pem: bytes) -> Signed:
        """From `pem`; ValueError for anything else."""
        key = serialization.load_pem_private_key(pem, None)
        certificate = x509.load_pem_x509_certificates(pem)[0]
        if not isinstance(key, ec.EllipticCurvePrivateKey) or key.public_key() != certificate.public_key():
            raise ValueError("the key is not the certificate's")
        return cls(certificate, key)


def checked_party(name: str, role: PartyRole, hosts: Sequence[str]) -> Party:
    """UserError for a name or a host that cannot be."""
    if not _NAME.fullmatch(name) or name == "ca" or name.endswith(".pem"):
        raise UserError(
            f"{name}: use up to 63 letters, digits, dots, - and _, beginning with a letter or digit; "
            "not ca, nor *.pem"
        )
    return Party(name, role, tuple(_checked_host(name, host) for host in hosts))


def new_authority() -> Signed:
    """An authority of its own making, under a name of its own."""
    key = ec.generate_private_key(ec.SECP256R1())
    serial = x509.random_serial_number()
    name = _name(f"Clarion authority {serial % 2**32:08x}")
    made = (
        _builder(name, name, key, serial, AUTHORITY_VALID)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
    )
    return Signed(made.sign(key, hashes.SHA256()), key)


def issue(authority: Signed, party: Party, valid: timedelta = VALID) -> Signed:
    """A new key, and a certificate that the authority signs. It is `valid` from a few minutes ago, and no
    longer than the authority's; UserError if that has expired.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    issuer = authority.certificate
    identifier = issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    left = issuer.not_valid_after_utc - datetime.now(timezone.utc)
    if left < timedelta(0):
        raise UserError("the authority has expired; `clarion keys replace-authority` makes another")
    uses = []
    if party.role is PartyRole.CONTROLLER:
        uses.append(ExtendedKeyUsageOID.CLIENT_AUTH)
    if party.hosts:
        uses.append(ExtendedKeyUsageOID.SERVER_AUTH)
    made = (
        _builder(_name(party.name), issuer.subject, key, x509.random_serial_number(), min(valid, left))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage(uses), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier), critical=False
        )
    )
    if party.hosts:
        names = x509.SubjectAlternativeName([_general_name(host) for host in party.hosts])
        made = made.add_extension(names, critical=False)
    return Signed(made.sign(authority.key, hashes.SHA256()), key)


def party_of(certificate: x509.Certificate) -> Party:
    """Who a certificate of `issue` is for; UserError for one of another kind."""
    try:
        common = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value
        uses = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except (IndexError, x509.ExtensionNotFound):
        name = certificate.subject.rfc4514_string()
        raise UserError(f"{name}: not a certificate of `clarion keys`") from None
    role = PartyRole.CONTROLLER if ExtendedKeyUsageOID.CLIENT_AUTH in uses else PartyRole.SWITCH
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return Party(str(common), role, ())
    return Party(str(common), role, tuple(str(name.value) for name in names))


def is_signed_by(certificate: x509.Certificate, authority: x509.Certificate) -> bool:
    """Whether this authority signed it."""
    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def pem_of(certificates: Sequence[x509.Certificate]) -> bytes:
    """Certificates one after the other."""
    return b"".join(each.public_bytes(serialization.Encoding.PEM) for each in certificates)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, serial: int, valid: timedelta
) -> x509.CertificateBuilder:
    begins = datetime.now(timezone.utc) - CLOCK_SKEW
    public = key.public_key()
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(serial)
        .not_valid_before(begins)
        .not_valid_after(begins + valid)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _checked_host(name: str, host: str) -> str:
    """The host as certificates write it."""
    try:
        return str(ipaddress.ip_address(host.strip("[]")))
    except ValueError:
        pass
    last = host.rpartition(".")[2]
    if not _DNS_NAME.fullmatch(host) or last.isdecimal():  # 10.0.0.256 is no name
        raise UserError(f"{name}: {host}: neither the name of a host nor an IP address")
    return host.lower()
