// SPDX-License-Identifier: Apache-2.0
//! Bad input to the program: one line on stderr that names what is wrong and what mends it, status 1, and nothing left.

use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use clarion_proxy::keys;
use rcgen::{CertificateParams, Issuer, KeyPair, date_time_ymd};
use tempfile::TempDir;

/// Keys of both ends, and room for a control socket.
struct Place {
    folder: TempDir,
    /// Taken, so that nothing would come of a start that goes too far.
    port: UdpSocket,
}

impl Place {
    fn new() -> Self {
        let folder = TempDir::new().expect("folder");
        keys::init(folder.path()).expect("CA");
        for name in ["ground", "ship"] {
            keys::issue(folder.path(), name, 30).expect("certificate");
        }
        Self { folder, port: UdpSocket::bind("127.0.0.1:0").expect("port") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A server at a port that is taken.
    fn server(&self) -> Vec<String> {
        let listen = self.port.local_addr().expect("address").to_string();
        let options = ["server", "--listen", &listen, "--allow", "192.0.2.0/24:*", "--name", "ground"];
        self.with_places(&options)
    }

    /// A client whose server never answers.
    fn client(&self) -> Vec<String> {
        let peer = self.port.local_addr().expect("address").to_string();
        let forward = "127.0.0.1:1=192.0.2.1:21";
        let options =
            ["client", "--peer", &peer, "--peer-name", "ground", "--forward", forward, "--name", "ship"];
        self.with_places(&options)
    }

    fn with_places(&self, options: &[&str]) -> Vec<String> {
        let folder = self.folder.path().display().to_string();
        let control = self.path("control.sock").display().to_string();
        let places = ["--keys", &folder, "--control", &control];
        options.iter().chain(&places).map(|each| (*each).to_owned()).collect()
    }

    /// Both ends with the same fault, by the name of their files.
    fn assert_both_refused(&self, spoil: impl Fn(&str), words: &[&str]) {
        for (name, arguments) in [("ground", self.server()), ("ship", self.client())] {
            spoil(name);
            let line = refusal(&arguments);
            assert!(line.contains(name), "{line}");
            words.iter().for_each(|word| assert!(line.contains(word), "{word}: {line}"));
            assert!(!self.path("control.sock").exists());
        }
    }

    /// Signs other certificates than `keys issue` does.
    fn sign(&self, name: &str, change: impl FnOnce(&mut CertificateParams)) {
        let ca = fs::read_to_string(self.path("ca.pem")).expect("CA");
        let ca_key = KeyPair::from_pem(&fs::read_to_string(self.path("ca.key")).expect("key")).expect("key");
        let issuer = Issuer::from_ca_cert_pem(&ca, ca_key).expect("issuer");
        let own = fs::read_to_string(self.path(&format!("{name}.key"))).expect("key");
        let mut params = CertificateParams::new(vec![name.to_owned()]).expect("parameters");
        change(&mut params);
        let signed = params.signed_by(&KeyPair::from_pem(&own).expect("key"), &issuer).expect("certificate");
        fs::write(self.path(&format!("{name}.pem")), signed.pem()).expect("certificate");
    }
}

/// The only line that the program says before it ends with status 1.
fn refusal(arguments: &[String]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_clarion-proxy")).args(arguments).output().expect("run");
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(1), "{said}");
    let lines: Vec<&str> = said.lines().collect();
    let [line] = lines[..] else { panic!("not one line: {said}") };
    assert!(line.starts_with("clarion-proxy: "), "{line}");
    line.to_owned()
}

#[test]
fn a_certificate_that_has_expired() {
    let place = Place::new();
    place.assert_both_refused(
        |name| place.sign(name, |params| params.not_after = date_time_ymd(2020, 1, 1)),
        &["has expired on Jan  1", "2020", "clarion-proxy keys issue"],
    );
}

#[test]
fn a_certificate_that_is_not_valid_yet() {
    let place = Place::new();
    place.assert_both_refused(
        |name| place.sign(name, |params| params.not_before = date_time_ymd(4000, 1, 1)),
        &["is not valid before", "4000", "clock"],
    );
}

#[test]
fn a_certificate_of_another_ca() {
    let (place, other) = (Place::new(), Place::new());
    place.assert_both_refused(
        |name| {
            for end in ["pem", "key"] {
                let file = format!("{name}.{end}");
                fs::copy(other.path(&file), place.path(&file)).expect("copy");
            }
        },
        &["is not signed by", "ca.pem"],
    );
}

#[test]
fn a_key_of_another_certificate() {
    let (place, other) = (Place::new(), Place::new());
    place.assert_both_refused(
        |name| {
            let file = format!("{name}.key");
            fs::copy(other.path(&file), place.path(&file)).expect("copy");
        },
        &[".key does not belong to", ".pem"],
    );
}

#[test]
fn files_that_are_none_of_what_they_should_be() {
    let place = Place::new();
    let spoil = |end: &'static str, contents: Option<&'static str>| {
        let place = &place;
        move |name: &str| {
            let path = place.path(&format!("{name}.{end}"));
            let _ = fs::remove_file(&path);
            if let Some(contents) = contents {
                fs::write(&path, contents).expect("file");
            }
        }
    };
    place.assert_both_refused(spoil("key", None), &[".key", "clarion-proxy keys init and keys issue"]);
    place.assert_both_refused(spoil("key", Some("")), &[".key", "clarion-proxy keys init and keys issue"]);
    place.assert_both_refused(spoil("key", Some("\u{1b}[2J\n\n")), &[".key", "keys issue"]);
    place.assert_both_refused(spoil("pem", Some("nothing")), &[".pem holds no certificate", "keys issue"]);
    place.assert_both_refused(spoil("pem", None), &[".pem", "clarion-proxy keys init and keys issue"]);
    let place = Place::new();
    fs::write(place.path("ca.pem"), "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
        .expect("CA");
    let line = refusal(&place.server());
    assert!(line.contains("ca.pem"), "{line}");
}

#[test]
fn a_port_in_use() {
    let place = Place::new();
    let line = refusal(&place.server());
    let listen = place.port.local_addr().expect("address").to_string();
    assert!(line.contains(&format!("cannot listen at UDP {listen}")) && line.contains("--listen"), "{line}");
    let metrics = TcpListener::bind("127.0.0.1:0").expect("port");
    let at = metrics.local_addr().expect("address").to_string();
    let line = refusal(&[place.client(), vec!["--metrics".into(), at.clone()]].concat());
    assert!(line.contains(&at) && line.contains("--metrics"), "{line}");
    assert!(!place.path("control.sock").exists());
}

#[test]
fn a_control_socket_that_is_somebody_elses() {
    let place = Place::new();
    let control = place.path("control.sock");
    let owner = UnixListener::bind(&control).expect("socket");
    let line = refusal(&place.client());
    assert!(line.contains("a proxy answers at") && line.contains("--control"), "{line}");
    assert!(control.exists());
    drop(owner);
    fs::remove_file(&control).expect("removed");
    fs::write(place.path("mine"), "mine").expect("file");
    symlink(place.path("mine"), &control).expect("link");
    let line = refusal(&place.client());
    assert!(line.contains("is no socket") && line.contains("--control"), "{line}");
    assert_eq!(fs::read(place.path("mine")).expect("file"), b"mine");
}

#[test]
fn a_server_that_nobody_runs() {
    let place = Place::new();
    let line = refusal(&[place.client(), vec!["--connect-timeout-s".into(), "1".into()]].concat());
    let peer = place.port.local_addr().expect("address").to_string();
    assert!(
        line.contains(&format!("no tunnel to {peer}")) && line.contains("clarion-proxy server"),
        "{line}"
    );
    assert!(!place.path("control.sock").exists());
}

#[test]
fn settings_that_are_none() {
    let place = Place::new();
    let path = place.path("settings.toml");
    for (text, words) in [
        ("[server]\nlisten = 7\n", "line 2"),
        ("[server]\nallow = [\"10.0.0.0/8\"]\n", "10.0.0.0/8"),
        ("[tunnel]\nlaw = \"\\n\\u001b[2J\"\n", "law"),
        ("[tunnel]\nbuffer_mib = 4294967296\n", "line 2"),
        ("\0\u{1}\u{2}", "line 1"),
        ("[client]\n", "[client] in the settings of a server"),
    ] {
        fs::write(&path, text).expect("settings");
        let line = refusal(&[place.server(), vec!["--config".into(), shown(&path)]].concat());
        assert!(line.contains(words), "{words}: {line}");
        assert!(!line.contains('\u{1b}'), "{line:?}");
    }
    for (set, words) in [("nothing=1", "nothing"), ("initial_window_packets=0", "initial_window_packets")] {
        let line = refusal(&[place.server(), vec!["--set".into(), set.into()]].concat());
        assert!(line.contains(words), "{line}");
    }
    fs::write(&path, [0xff, 0xfe]).expect("settings");
    let line = refusal(&[place.server(), vec!["--config".into(), shown(&path)]].concat());
    assert!(line.contains("settings.toml"), "{line}");
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
