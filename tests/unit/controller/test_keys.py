# SPDX-License-Identifier: Apache-2.0
"""`clarion keys`: the certificates and files that it makes, and what it refuses."""

from __future__ import annotations

import json
import ssl
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

from clarion import cli
from clarion_control.keys import certificates
from clarion_control.keys.certificates import PartyRole, checked_party
from clarion_control.keys.directory import KeyDirectory

SETUP = ("--controller", "c1=controller.example.org", "--switch", "s1=switch1.example.org,10.0.0.2,::1")


def keys(command: str, directory: Path, *arguments: str) -> int:
    return cli.main(["keys", command, str(directory), *arguments])


def certificate(path: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificates(path.read_bytes())[0]


def modes(directory: Path) -> dict[str, int]:
    paths = [directory, *directory.rglob("*")]
    return {str(path.relative_to(directory)): path.stat().st_mode & 0o777 for path in paths}


@pytest.fixture
def made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert keys("setup", tmp_path / "keys", *SETUP) == 0
    capsys.readouterr()
    return tmp_path / "keys"


def test_one_command_makes_all_and_says_how_to_use_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = tmp_path / "keys"
    assert keys("setup", directory, *SETUP) == 0
    said = capsys.readouterr().out
    assert f"s1: copy {directory}/s1/*.pem to /etc/clarion/" in said
    assert "--tls-certificate /etc/clarion/s1.pem --tls-client-ca /etc/clarion/ca.pem" in said
    assert '"switch1.example.org:9559"' in said
    line = next(line for line in said.splitlines() if '"tls" for each switch' in line)
    assert json.loads(line.partition(": ")[2]) == {
        "ca": "/etc/clarion/ca.pem",
        "certificate": "/etc/clarion/c1.pem",
        "key": "/etc/clarion/c1.pem",
    }


def test_only_the_owner_reads_keys(made: Path) -> None:
    assert modes(made) == {
        ".": 0o700,
        "authority.pem": 0o600,
        "ca.pem": 0o644,
        "c1": 0o700,
        "c1/c1.pem": 0o600,
        "c1/ca.pem": 0o644,
        "s1": 0o700,
        "s1/s1.pem": 0o600,
        "s1/ca.pem": 0o644,
    }


def test_the_certificates_are_as_rfc_5280_has_them(made: Path) -> None:
    authority = certificate(made / "ca.pem")
    switch, controller = certificate(made / "s1/s1.pem"), certificate(made / "c1/c1.pem")
    assert len({authority.serial_number, switch.serial_number, controller.serial_number}) == 3
    own = authority.extensions.get_extension_for_class(x509.BasicConstraints)
    assert (own.critical, own.value) == (True, x509.BasicConstraints(ca=True, path_length=0))
    assert authority.extensions.get_extension_for_class(x509.KeyUsage).value.key_cert_sign
    for leaf in (switch, controller):
        leaf.verify_directly_issued_by(authority)
        assert not leaf.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
        assert not leaf.extensions.get_extension_for_class(x509.KeyUsage).value.key_cert_sign
        signer = leaf.extensions.get_extension_for_class(x509.AuthorityKeyIdentifier).value
        identifier = authority.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
        assert signer.key_identifier == identifier.digest
        assert leaf.not_valid_after_utc - leaf.not_valid_before_utc == timedelta(days=397)
    uses = [each.extensions.get_extension_for_class(x509.ExtendedKeyUsage) for each in (switch, controller)]
    assert list(uses[0].value) == [ExtendedKeyUsageOID.SERVER_AUTH]
    assert list(uses[1].value) == [ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]
    assert certificates.party_of(switch) == checked_party(
        "s1", PartyRole.SWITCH, ["Switch1.example.org", "10.0.0.2", "[::1]"]
    )


def test_openssl_takes_certificate_and_key_from_one_file(made: Path) -> None:
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(made / "s1/s1.pem")


def test_a_second_setup_keeps_what_is_there_and_adds(made: Path) -> None:
    before = (made / "s1/s1.pem").read_bytes()
    assert keys("setup", made, *SETUP, "--switch", "s2=10.0.0.3") == 0
    assert (made / "s1/s1.pem").read_bytes() == before
    certificate(made / "s2/s2.pem").verify_directly_issued_by(certificate(made / "ca.pem"))


def test_another_certificate_replaces_one_only_by_force(
    made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (made / "s1/s1.pem").read_bytes()
    assert keys("setup", made, "--switch", "s1=10.0.0.9") == 2
    assert capsys.readouterr().err == (
        "clarion: s1: has a certificate of a switch for switch1.example.org, 10.0.0.2, ::1; "
        "--force replaces it\n"
    )
    assert (made / "s1/s1.pem").read_bytes() == before
    assert keys("setup", made, "--switch", "s1=10.0.0.9", "--force") == 0
    assert certificates.party_of(certificate(made / "s1/s1.pem")).hosts == ("10.0.0.9",)


def test_renew_takes_those_that_expire_or_are_named(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {name: made / name / f"{name}.pem" for name in ("c1", "s1")}
    before = {name: certificate(path) for name, path in files.items()}
    assert keys("renew", made) == 0
    assert {name: certificate(path) for name, path in files.items()} == before
    with KeyDirectory.opened(made) as directory:
        party = certificates.party_of(before["s1"])
        late = certificates.issue(directory.authority, party, timedelta(days=20))
    files["s1"].write_bytes(late.pem())
    assert keys("list", made, "--within", "2w") == 0
    assert keys("list", made, "--within", "30d") == 1
    capsys.readouterr()
    assert keys("renew", made) == 0
    assert capsys.readouterr().out.startswith("s1: expires ")
    assert certificate(files["c1"]) == before["c1"]
    assert certificates.party_of(certificate(files["s1"])) == party
    assert keys("list", made, "--within", "30d") == 0
    assert keys("renew", made, "c1") == 0
    assert certificate(files["c1"]) != before["c1"]


def test_an_authority_is_replaced_in_three_steps(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = certificate(made / "ca.pem")
    assert keys("replace-authority", made) == 0
    trusted = x509.load_pem_x509_certificates((made / "s1/ca.pem").read_bytes())
    assert trusted[1:] == [old]
    assert (made / "ca.pem").read_bytes() == (made / "c1/ca.pem").read_bytes()
    capsys.readouterr()
    for command in ("replace-authority", "drop-authority"):
        assert keys(command, made) == 2
        assert "c1, s1: signed by the authority before; `clarion keys renew`" in capsys.readouterr().err
    assert keys("renew", made) == 0
    certificate(made / "s1/s1.pem").verify_directly_issued_by(trusted[0])
    assert keys("drop-authority", made) == 0
    assert x509.load_pem_x509_certificates((made / "s1/ca.pem").read_bytes()) == trusted[:1]


def test_a_crash_between_two_files_of_a_new_authority_does_no_harm(made: Path) -> None:
    """The trusted ones are written first: one more than there are keys for is trusted in vain."""
    stray = certificates.new_authority()
    with (made / "ca.pem").open("ab") as file:
        file.write(certificates.pem_of([stray.certificate]))
    assert keys("setup", made, "--switch", "s2=10.0.0.3") == 0
    assert keys("drop-authority", made) == 0
    assert len(x509.load_pem_x509_certificates((made / "ca.pem").read_bytes())) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "setup: name who is to have a certificate, with --controller or --switch"),
        (["--switch", "s2"], "--switch s2: write NAME=HOST, "),
        (["--switch", "../s2=a"], "../s2: use up to 63 letters"),
        (["--switch", "ca=a"], "ca: use up to 63 letters"),
        (["--switch", "s2=10.0.0.256"], "s2: 10.0.0.256: neither the name of a host nor an IP address"),
        (["--switch", "s2=a..b"], "s2: a..b: neither the name of a host nor an IP address"),
        (["--switch", "s2=*.a"], "s2: *.a: neither the name of a host nor an IP address"),
        (["--switch", "s2=a", "--controller", "s2"], "s2: is given twice"),
    ],
)
def test_what_cannot_be_is_one_line(
    made: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert keys("setup", made, *arguments) == 2
    assert capsys.readouterr().err.startswith(f"clarion: {message}")
    assert sorted(path.name for path in made.iterdir()) == ["authority.pem", "c1", "ca.pem", "s1"]


def test_files_that_are_not_there_or_not_ours(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert keys("list", made / "nowhere") == 2
    assert "No such file or directory; `clarion keys setup` makes it" in capsys.readouterr().err
    assert keys("renew", made, "s9") == 2
    assert "s9: has no certificate in " in capsys.readouterr().err
    (made / "s1/s1.pem").write_bytes((made / "c1/c1.pem").read_bytes())
    assert keys("renew", made) == 2
    assert "s1.pem: is the certificate of c1; remove it" in capsys.readouterr().err
    (made / "s1/s1.pem").write_text("hello")
    assert keys("list", made) == 2
    assert "s1.pem: no key and certificate of `clarion keys`" in capsys.readouterr().err
    (made / "authority.pem").unlink()
    assert keys("setup", made, *SETUP) == 2  # no new authority that nobody trusts
    assert "authority.pem: No such file or directory" in capsys.readouterr().err
