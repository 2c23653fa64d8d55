# SPDX-License-Identifier: Apache-2.0
"""The directory of `clarion keys`, to be kept away from the machines that the certificates are for:

authority.pem     key and certificate of the authority that signs
ca.pem            whom all trust: that authority's certificate, and during a change the one's before
NAME/NAME.pem     key and certificate of one party
NAME/ca.pem       the same as ca.pem, so that NAME/ is all that the party needs
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from cryptography import x509

from clarion_base.errors import UserError
from clarion_control.keys import certificates
from clarion_control.keys.certificates import Party, Signed

AUTHORITY = "authority.pem"
TRUSTED = "ca.pem"
PRIVATE, PUBLIC = 0o600, 0o644


class KeyDirectory:
    """The files of one authority, while `opened`."""

    def __init__(self, path: Path, authority: Signed, trusted: list[x509.Certificate]) -> None:
        """Use `opened`."""
        self.path = path
        self.authority = authority
        self.trusted = trusted

    @classmethod
    @contextlib.contextmanager
    def opened(cls, path: Path, *, make: bool = False) -> Iterator[KeyDirectory]:
        """With `make`, makes an authority where there is none. Nobody else changes the files meanwhile."""
        if make:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            hint = "; `clarion keys setup` makes it" if isinstance(error, FileNotFoundError) else ""
            raise UserError(f"{path}: {error.strerror}{hint}") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if make and not (path / AUTHORITY).exists() and not (path / TRUSTED).exists():
                made = certificates.new_authority()
                _write(path / AUTHORITY, made.pem(), PRIVATE)
                _write(path / TRUSTED, certificates.pem_of([made.certificate]), PUBLIC)
            yield cls(path, _signed(path / AUTHORITY), _trusted(path / TRUSTED))
        finally:
            os.close(lock)

    def parties(self) -> dict[str, Signed]:
        """All that have a certificate, by name."""
        names = sorted(each.name for each in self.path.iterdir() if self._file(each.name).exists())
        return {name: self._party(name) for name in names}

    def find(self, name: str) -> Signed | None:
        """The certificate of a party; None if it has none."""
        return self._party(name) if self._file(name).exists() else None

    def issue(self, party: Party) -> Signed:
        """A new key and certificate, in place of one that is there."""
        made = certificates.issue(self.authority, party)
        (self.path / party.name).mkdir(mode=0o700, exist_ok=True)
        self._tell(party.name)
        _write(self._file(party.name), made.pem(), PRIVATE)
        return made

    def is_current(self, certificate: x509.Certificate) -> bool:
        """Whether the authority of now signed it."""
        return certificates.is_signed_by(certificate, self.authority.certificate)

    def outdated(self) -> list[str]:
        """The parties whose certificate an authority before this one signed."""
        return [name for name, each in self.parties().items() if not self.is_current(each.certificate)]

    def replace_authority(self) -> None:
        """A new authority, which signs from now on; that of before is trusted beside it."""
        made = certificates.new_authority()
        self._trust([made.certificate, self.authority.certificate])
        _write(self.path / AUTHORITY, made.pem(), PRIVATE)
        self.authority = made

    def drop_authorities(self) -> int:
        """Only the authority of now is trusted; the number of those that were."""
        dropped = len(self.trusted) - 1
        self._trust([self.authority.certificate])
        return dropped

    def _trust(self, trusted: list[x509.Certificate]) -> None:
        self.trusted = trusted
        _write(self.path / TRUSTED, certificates.pem_of(trusted), PUBLIC)
        for name in self.parties():
            self._tell(name)

    def _party(self, name: str) -> Signed:
        found = _signed(self._file(name))
        party = certificates.party_of(found.certificate)
        if party.name != name:
            raise UserError(f"{self._file(name)}: is the certificate of {party.name}; remove it")
        return found

    def _tell(self, name: str) -> None:
        _write(self.path / name / TRUSTED, certificates.pem_of(self.trusted), PUBLIC)

    def _file(self, name: str) -> Path:
        return self.path / name / f"{name}.pem"


def _signed(path: Path) -> Signed:
    try:
        return Signed.of(_read(path))
    except (ValueError, TypeError) as error:  # TypeError: a pass phrase is needed
        raise UserError(f"{path}: no key and certificate of `clarion keys`: {error}") from error


def _trusted(path: Path) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(_read(path))
    except ValueError as error:
        raise UserError(f"{path}: no certificates: {error}") from error


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from error


def _write(path: Path, content: bytes, mode: int) -> None:
    """Whoever reads the path gets what was there before, or all of this."""
    temporary = path.with_name(f".{path.name}.new")
    with contextlib.suppress(FileNotFoundError):
        temporary.unlink()  # of a run that was killed
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE)
    with open(descriptor, "wb") as file:
        os.fchmod(descriptor, mode)
        file.write(content)
        file.flush()
        os.fsync(descriptor)
    temporary.replace(path)
