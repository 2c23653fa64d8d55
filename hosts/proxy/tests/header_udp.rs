// SPDX-License-Identifier: Apache-2.0
//! Headers on real sockets, between two namespaces of this machine. As root, with clarion-host built:
//!
//!     CLARION_HOST_BIN=build/cargo/release/clarion-host cargo test --release --test header_udp -- --ignored

use std::env;
use std::fs::File;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use clarion_proxy::header::{Channel, Echo, HeaderSocket, Mode, Request};
use nix::sched::{CloneFlags, setns};

const PATIENCE: Duration = Duration::from_secs(30);
const PAYLOAD: [u8; 1200] = [0x5a; 1200];

fn run(command: &str) {
    let mut words = command.split(' ');
    let done = Command::new(words.next().expect("a word")).args(words).output().expect(command);
    assert!(done.status.success(), "{command}: {}", String::from_utf8_lossy(&done.stderr));
}

fn agent() -> PathBuf {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../build/cargo/release/clarion-host");
    env::var_os("CLARION_HOST_BIN").map_or(built, PathBuf::from)
}

/// Two namespaces, joined by a veth pair; each test has its own.
struct Pair {
    names: [String; 2],
}

impl Pair {
    fn new(test: &str) -> Self {
        let names = ["a", "b"].map(|end| format!("chp-{test}-{end}"));
        for name in &names {
            run(&format!("ip netns add {name}"));
        }
        let [a, b] = &names;
        run(&format!("ip link add eth0 netns {a} type veth peer name eth0 netns {b}"));
        for (name, host) in names.iter().zip(1..) {
            run(&format!("ip -n {name} address add 10.77.0.{host}/24 dev eth0"));
            run(&format!("ip -n {name} link set eth0 up"));
        }
        Self { names }
    }

    fn attach(&self, end: usize) {
        run(&format!("{} attach --netns {} --dev eth0", agent().display(), self.names[end]));
    }

    fn detach(&self, end: usize) {
        run(&format!("{} detach --netns {} --dev eth0", agent().display(), self.names[end]));
    }

    /// A connected socket of one end; only this thread changes its namespace, for this moment.
    fn socket(&self, end: usize) -> UdpSocket {
        let home = File::open("/proc/thread-self/ns/net").expect("own namespace");
        let there = File::open(format!("/run/netns/{}", self.names[end])).expect("namespace");
        setns(there.as_fd(), CloneFlags::CLONE_NEWNET).expect("enter");
        let socket = UdpSocket::bind(address(end)).expect("bind");
        setns(home.as_fd(), CloneFlags::CLONE_NEWNET).expect("return");
        socket.connect(address(1 - end)).expect("connect");
        socket.set_nonblocking(true).expect("nonblocking");
        socket
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        for name in &self.names {
            let _ = Command::new(agent()).args(["detach", "--netns", name, "--dev", "eth0"]).output();
            let _ = Command::new("ip").args(["netns", "del", name]).output();
        }
    }
}

fn address(end: usize) -> SocketAddr {
    SocketAddr::from(([10, 77, 0, end as u8 + 1], 7003 + end as u16))
}

/// A program that sends datagrams which its peer acknowledges, as QUIC does.
struct End {
    socket: UdpSocket,
    header: Option<HeaderSocket>,
    received: u64,
}

impl End {
    fn new(pair: &Pair, end: usize) -> Self {
        let socket = pair.socket(end);
        let header = HeaderSocket::attach(socket.as_fd(), true).expect("headers");
        if let Some(header) = &header {
            header.on_rtt(Duration::from_millis(1));
            header.on_established(Instant::now());
        }
        Self { socket, header, received: 0 }
    }

    fn send(&self, payload: &[u8], is_eliciting: bool) {
        if let Some(header) = &self.header {
            if is_eliciting {
                header.note_eliciting();
            }
            header.before_send(Instant::now());
        }
        self.socket.send(payload).expect("send");
    }

    /// Takes what has arrived, all of it as it was sent; whether anything has.
    fn receive(&mut self, expected: &[u8]) -> bool {
        let before = self.received;
        let mut buffer = [0; 2000];
        while let Ok(length) = self.socket.recv(&mut buffer) {
            assert_eq!(&buffer[..length], expected);
            self.received += 1;
        }
        if self.received == before {
            return false;
        }
        if let Some(header) = &self.header {
            header.after_receive(Instant::now());
        }
        true
    }

    fn mode(&self) -> Option<Mode> {
        self.header.as_ref().map(HeaderSocket::mode)
    }

    fn echo(&self) -> Option<Echo> {
        self.header.as_ref().and_then(Channel::echo)
    }
}

/// Lets `a` send and `b` acknowledge until something holds; how many datagrams `a` sent and got acknowledged.
fn talk(a: &mut End, b: &mut End, until: impl Fn(&End, &End) -> bool) -> (u64, u64) {
    let began = Instant::now();
    let (mut sent, before) = (0, a.received);
    while !until(a, b) {
        assert!(began.elapsed() < PATIENCE, "not within {PATIENCE:?}: {:?} and {:?}", a.mode(), b.mode());
        a.send(&PAYLOAD, true);
        sent += 1;
        let turn = Instant::now();
        while turn.elapsed() < Duration::from_millis(5) {
            if b.receive(&PAYLOAD) {
                b.send(b"ack", false);
            }
            if a.receive(b"ack") {
                break;
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }
    (sent, a.received - before)
}

#[test]
#[ignore = "needs root and clarion-host"]
fn a_path_opens_and_grants_come_back() {
    let pair = Pair::new("open");
    pair.attach(0);
    pair.attach(1);
    let (mut a, mut b) = (End::new(&pair, 0), End::new(&pair, 1));
    let request = Request {
        wanted: true,
        rtt: 1 << 20,
        x: 1 << 10,
        delta_throughput: 1000,
        full_len: 14 + 20 + 32 + 8 + PAYLOAD.len() as u32,
        ..Request::default()
    };
    a.header.as_ref().expect("a shim").request(request);
    talk(&mut a, &mut b, |a, _| a.mode() == Some(Mode::Open));
    let first = a.echo().expect("an echo");
    talk(&mut a, &mut b, |a, _| a.echo().is_some_and(|echo| echo.nr_echoes >= first.nr_echoes + 100));
    let echo = a.echo().expect("an echo");
    assert!(echo.tags && !echo.regulated, "{echo:?}");
    // Each datagram asks for 1000 bytes/s more, and nothing on the way grants less.
    let granted = echo.reverse_feedback - first.reverse_feedback;
    assert!(granted >= 100_000 && granted.is_multiple_of(1000), "{echo:?} after {first:?}");
}

/// As `--predict-loss` sends them: the same bytes once more, which are not acknowledged by themselves.
#[test]
#[ignore = "needs root and clarion-host"]
fn datagrams_that_are_sent_twice_arrive_twice_on_an_open_path() {
    let pair = Pair::new("twice");
    pair.attach(0);
    pair.attach(1);
    let (mut a, mut b) = (End::new(&pair, 0), End::new(&pair, 1));
    talk(&mut a, &mut b, |a, _| a.mode() == Some(Mode::Open));
    let (before, echoes) = (b.received, a.echo().expect("an echo").nr_echoes);
    let began = Instant::now();
    for round in 1..=100 {
        a.send(&PAYLOAD, true);
        a.send(&PAYLOAD, false);
        while b.received < before + 2 * round {
            assert!(began.elapsed() < PATIENCE, "{} of {}", b.received - before, 2 * round);
            b.receive(&PAYLOAD);
        }
        b.send(b"ack", false);
        a.receive(b"ack");
    }
    talk(&mut a, &mut b, |a, _| a.echo().is_some_and(|echo| echo.nr_echoes >= echoes + 100));
    let echo = a.echo().expect("an echo");
    assert_eq!((echo.corrupt, echo.congest, echo.local_drops), (0, 0, 0));
}

#[test]
#[ignore = "needs root and clarion-host"]
fn a_peer_that_loses_its_shim_gets_plain_datagrams() {
    let pair = Pair::new("lose");
    pair.attach(0);
    pair.attach(1);
    let (mut a, mut b) = (End::new(&pair, 0), End::new(&pair, 1));
    talk(&mut a, &mut b, |a, _| a.mode() == Some(Mode::Open));
    pair.detach(1);
    talk(&mut a, &mut b, |a, _| a.mode() != Some(Mode::Open));
    assert!(a.echo().is_none());
    let until = a.received + 200;
    let (sent, acknowledged) = talk(&mut a, &mut b, |a, _| a.received >= until);
    assert!(sent - acknowledged < 10, "{acknowledged} of {sent} acknowledged");
    pair.attach(1);
    talk(&mut a, &mut b, |a, _| a.mode() == Some(Mode::Open));
}

#[test]
#[ignore = "needs root and clarion-host"]
fn a_peer_without_the_shim_costs_a_datagram_at_a_time() {
    let pair = Pair::new("none");
    pair.attach(0);
    let (mut a, mut b) = (End::new(&pair, 0), End::new(&pair, 1));
    assert!(b.header.is_none(), "no shim in that namespace");
    let began = Instant::now();
    let (sent, acknowledged) = talk(&mut a, &mut b, |_, _| began.elapsed() > Duration::from_secs(4));
    assert!(acknowledged > 100);
    assert!((1..10).contains(&(sent - acknowledged)), "{acknowledged} of {sent} acknowledged");
}
