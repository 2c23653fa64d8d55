// SPDX-License-Identifier: Apache-2.0
//! Transparent interception in namespaces of this machine, made by each test: a client, a router where the proxy is,
//! and a destination. The proxy is this program again, as a process that can be killed. Skipped unless run as root.

use std::env;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use clarion_proxy::config::{Destination, TransparentSettings};
use clarion_proxy::transparent::{Interception, cleanup, listeners, mark_own};
use nix::sched::{CloneFlags, setns};
use socket2::{Domain, SockRef, Socket, Type};
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_secs(30);
/// What the helper process is told: local, forwarded or both, and where records are.
const MODE: &str = "CLARION_TEST_MODE";
const DIRECTORY: &str = "CLARION_TEST_DIRECTORY";
const UNPRIVILEGED: &str = "CLARION_TEST_UNPRIVILEGED";
/// Taken, and not.
const TAKEN: u16 = 80;
const OTHER: u16 = 90;
const PROXY: u16 = 3999;

const ROUTER: &str = "10.9.2.1";
const DESTINATION: [&str; 2] = ["10.9.2.2", "fd09:2::2"];

fn settings(mode: &str) -> TransparentSettings {
    let all = |address: &str, prefix_bits| {
        let address = address.parse().expect("address");
        Destination { address, prefix_bits, ports: (TAKEN, OTHER - 1) }
    };
    TransparentSettings {
        local: mode != "forwarded",
        forwarded: mode != "local",
        // Overlapping, with bits behind the prefix.
        destinations: vec![all("10.1.2.3", 8), all("10.9.0.0", 16), all("fd00::", 8), all("::", 0)],
        port: PROXY,
    }
}

// --- the proxy process ---

/// Not a test: what runs in the helper process.
#[test]
fn proxy_process() {
    let (Ok(mode), Ok(directory)) = (env::var(MODE), env::var(DIRECTORY)) else { return };
    if env::var_os(UNPRIVILEGED).is_some() {
        nix::unistd::setuid(nix::unistd::Uid::from_raw(65534)).expect("setuid");
    }
    match serve(&mode, Path::new(&directory)) {
        Ok(interception) => {
            println!("\nready");
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            drop(interception);
        }
        Err(error) => println!("\nrefused {error:#}\nend of the refusal"),
    }
    // Without the words of the test harness, which the parent does not read.
    std::process::exit(0);
}

/// Intercepts; whatever is intercepted is told its destination, and then gets back what it sends.
fn serve(mode: &str, directory: &Path) -> anyhow::Result<Interception> {
    let settings = settings(mode);
    // The second proxy of a test is refused because of the first one, not of its port.
    let other = TransparentSettings { port: PROXY + 1, ..settings.clone() };
    let settings = if listeners(&settings).is_ok() { settings } else { other };
    for listener in listeners(&settings)? {
        listener.set_nonblocking(false)?;
        thread::spawn(move || {
            echo(&listener, |stream| format!("proxy {}", stream.local_addr().expect("local")))
        });
    }
    Interception::set_up_in(&settings, directory)
}

fn echo(listener: &TcpListener, greeting: fn(&TcpStream) -> String) {
    for stream in listener.incoming() {
        let mut stream = stream.expect("accept");
        SockRef::from(&stream).set_linger(Some(Duration::ZERO)).expect("linger");
        let greeting = format!("{}\n", greeting(&stream));
        thread::spawn(move || {
            let _ = stream.write_all(greeting.as_bytes());
            let mut byte = [0];
            while stream.read_exact(&mut byte).is_ok() {
                let _ = stream.write_all(&byte);
            }
        });
    }
}

struct Proxy {
    process: Child,
    input: Option<ChildStdin>,
}

impl Proxy {
    /// The process, and what it says: `ready`, or why it refuses.
    fn start(net: &Net, mode: &str, set: &[(&str, &str)]) -> (Self, String) {
        let mut process = inside(&net.router(), || {
            Command::new(env::current_exe().expect("own path"))
                .args(["--exact", "proxy_process", "--nocapture"])
                .env(MODE, mode)
                .env(DIRECTORY, net.directory.path())
                .envs(set.iter().copied())
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .expect("spawn")
        });
        let input = process.stdin.take();
        let mut output = BufReader::new(process.stdout.take().expect("output")).lines();
        let mut said = output
            .by_ref()
            .map(|line| line.expect("line"))
            .find(|line| line == "ready" || line.starts_with("refused "))
            .expect("a word of the proxy");
        if said != "ready" {
            let rest: Vec<String> = output.by_ref().map_while(Result::ok).collect();
            let lines = rest.iter().take_while(|line| *line != "end of the refusal");
            said = lines.fold(said, |said, line| said + "\n" + line);
        }
        (Self { process, input }, said)
    }

    fn ready(net: &Net, mode: &str) -> Self {
        let (proxy, said) = Self::start(net, mode, &[]);
        assert_eq!(said, "ready");
        proxy
    }

    /// A normal end.
    fn end(mut self) {
        drop(self.input.take());
        self.process.wait().expect("wait");
    }

    fn kill(mut self) {
        self.process.kill().expect("kill");
        self.process.wait().expect("wait");
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

// --- the network ---

fn run(command: &str) {
    let output = Command::new("sh").args(["-c", command]).output().expect(command);
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
}

/// What a command says, whether it fails or not.
fn answer(command: &str) -> String {
    let output = Command::new("sh").args(["-c", command]).output().expect(command);
    String::from_utf8(output.stdout).expect("text")
}

/// Does something in a namespace, in a thread of its own.
fn inside<T: Send>(namespace: &str, action: impl FnOnce() -> T + Send) -> T {
    let there = File::open(format!("/run/netns/{namespace}")).expect("namespace");
    thread::scope(|scope| {
        let thread = scope.spawn(move || {
            setns(there.as_fd(), CloneFlags::CLONE_NEWNET).expect("enter");
            action()
        });
        thread.join().expect("thread")
    })
}

fn until(what: &str, holds: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "{what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Client, router and destination in a row.
struct Net {
    name: String,
    directory: TempDir,
}

impl Net {
    /// `None`, with the reason printed, unless this may make namespaces.
    fn new(test: &str) -> Option<Self> {
        if !nix::unistd::geteuid().is_root() {
            println!("skipped: not root");
            return None;
        }
        let net = Self {
            name: format!("ctp-{}-{test}", std::process::id()),
            directory: TempDir::new().expect("directory"),
        };
        let (c, r, d) = (net.client(), net.router(), net.destination());
        for name in [&c, &r, &d] {
            run(&format!("ip netns add {name} && ip -n {name} link set lo up"));
        }
        run(&format!(
            "ip link add left netns {r} type veth peer name eth0 netns {c} &&
             ip link add right netns {r} type veth peer name eth0 netns {d} &&
             ip -n {c} address add 10.9.1.2/24 dev eth0 && ip -n {c} address add fd09:1::2/64 dev eth0 nodad &&
             ip -n {r} address add 10.9.1.1/24 dev left && ip -n {r} address add fd09:1::1/64 dev left nodad &&
             ip -n {r} address add {ROUTER}/24 dev right && ip -n {r} address add fd09:2::1/64 dev right nodad &&
             ip -n {d} address add {}/24 dev eth0 && ip -n {d} address add {}/64 dev eth0 nodad &&
             ip -n {c} link set eth0 up && ip -n {d} link set eth0 up &&
             ip -n {r} link set left up && ip -n {r} link set right up &&
             ip -n {c} route add default via 10.9.1.1 && ip -n {c} route add default via fd09:1::1 &&
             ip -n {d} route add default via {ROUTER} && ip -n {d} route add default via fd09:2::1 &&
             ip netns exec {r} sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1",
            DESTINATION[0], DESTINATION[1]
        ));
        for (name, greeting) in
            [(&d, (|_| "direct".into()) as fn(&TcpStream) -> String), (&r, |_| "router".into())]
        {
            for port in [TAKEN, OTHER] {
                let listener = inside(name, || TcpListener::bind(("::", port)).expect("listen"));
                thread::spawn(move || echo(&listener, greeting));
            }
        }
        let udp = inside(&d, || UdpSocket::bind(("::", TAKEN)).expect("bind"));
        thread::spawn(move || {
            let mut buffer = [0; 100];
            while let Ok((count, from)) = udp.recv_from(&mut buffer) {
                let _ = udp.send_to(&buffer[..count], from);
            }
        });
        Some(net)
    }

    fn client(&self) -> String {
        format!("{}-c", self.name)
    }

    fn router(&self) -> String {
        format!("{}-r", self.name)
    }

    fn destination(&self) -> String {
        format!("{}-d", self.name)
    }

    /// All that an interception changes in the router's namespace.
    fn traces(&self) -> String {
        let r = self.router();
        answer(&format!(
            "ip -n {r} -4 rule; ip -n {r} -6 rule; ip -n {r} -4 route show table all; ip -n {r} -6 route show table 49575;
             ip netns exec {r} nft list ruleset"
        ))
    }

    fn records(&self) -> usize {
        let files = fs::read_dir(self.directory.path()).expect("directory").flatten();
        files.filter(|file| file.path().extension().is_some_and(|extension| extension == "json")).count()
    }

    fn has_table(&self) -> bool {
        !answer(&format!("ip netns exec {} nft list tables", self.router())).is_empty()
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        for name in [self.client(), self.router(), self.destination()] {
            let _ = Command::new("ip").args(["netns", "del", &name]).output();
        }
    }
}

/// A connection and who greeted it.
fn connect(namespace: &str, to: &str, port: u16) -> (TcpStream, String) {
    let address = SocketAddr::new(to.parse::<IpAddr>().expect("address"), port);
    let stream = inside(namespace, || TcpStream::connect_timeout(&address, PATIENCE)).expect("connect");
    greeted(stream)
}

fn greeted(mut stream: TcpStream) -> (TcpStream, String) {
    stream.set_read_timeout(Some(PATIENCE)).expect("timeout");
    let (mut text, mut byte) = (String::new(), [0]);
    loop {
        stream.read_exact(&mut byte).expect("greeting");
        match byte[0] {
            b'\n' => return (stream, text),
            byte => text.push(byte.into()),
        }
    }
}

fn who(namespace: &str, to: &str, port: u16) -> String {
    connect(namespace, to, port).1
}

fn taken(to: &str) -> String {
    format!("proxy {}", SocketAddr::new(to.parse().expect("address"), TAKEN))
}

/// Whether a connection still carries bytes both ways.
fn carries(stream: &mut TcpStream) -> bool {
    let mut byte = [0];
    stream.write_all(b"x").is_ok() && stream.read_exact(&mut byte).is_ok() && byte == *b"x"
}

fn udp_passes(namespace: &str, to: &str) -> bool {
    let socket = inside(namespace, || UdpSocket::bind(("::", 0)).expect("bind"));
    socket.set_read_timeout(Some(PATIENCE)).expect("timeout");
    let to: IpAddr = to.parse().expect("address");
    let to = match to {
        IpAddr::V4(to) => to.to_ipv6_mapped(),
        IpAddr::V6(to) => to,
    };
    socket.send_to(b"x", (to, TAKEN)).expect("send");
    socket.recv(&mut [0; 10]).is_ok()
}

// --- the tests ---

#[test]
fn takes_local_connections_and_nothing_else() {
    let Some(net) = Net::new("local") else { return };
    let (router, before) = (net.router(), net.traces());
    let mut earlier = DESTINATION.map(|to| connect(&router, to, TAKEN).0);
    let proxy = Proxy::ready(&net, "local");
    for to in DESTINATION {
        let (mut stream, greeting) = connect(&router, to, TAKEN);
        assert_eq!(greeting, taken(to));
        assert!(carries(&mut stream), "{to}");
        assert_eq!(who(&router, to, OTHER), "direct");
        assert!(udp_passes(&router, to), "{to}");
        assert_eq!(who(&net.client(), to, TAKEN), "direct", "forwarded connections are not asked for");
    }
    for own in ["127.0.0.1", "::1", ROUTER, "fd09:1::1"] {
        assert_eq!(who(&router, own, TAKEN), "router");
        assert_eq!(who(&net.destination(), ROUTER, TAKEN), "router", "from outside");
    }
    for stream in &mut earlier {
        assert!(carries(stream), "a connection from before");
    }
    proxy.end();
    assert_eq!(net.traces(), before);
    assert_eq!(net.records(), 0);
    assert_eq!(who(&router, DESTINATION[0], TAKEN), "direct");
    for stream in &mut earlier {
        assert!(carries(stream), "a connection from before");
    }
}

#[test]
fn leaves_own_connections_alone() {
    let Some(net) = Net::new("own") else { return };
    let _proxy = Proxy::ready(&net, "both");
    for to in DESTINATION {
        let address = SocketAddr::new(to.parse().expect("address"), TAKEN);
        let stream = inside(&net.router(), || {
            let socket = Socket::new(Domain::for_address(address), Type::STREAM, None).expect("socket");
            mark_own(&socket).expect("mark");
            socket.connect_timeout(&address.into(), PATIENCE).expect("connect");
            TcpStream::from(socket)
        });
        let (mut stream, greeting) = greeted(stream);
        assert_eq!(greeting, "direct");
        assert!(carries(&mut stream), "{to}");
    }
}

#[test]
fn takes_forwarded_connections_and_nothing_else() {
    let Some(net) = Net::new("forwarded") else { return };
    let (client, router, before) = (net.client(), net.router(), net.traces());
    let mut earlier = DESTINATION.map(|to| connect(&client, to, TAKEN).0);
    let proxy = Proxy::ready(&net, "forwarded");
    for to in DESTINATION {
        let (mut stream, greeting) = connect(&client, to, TAKEN);
        assert_eq!(greeting, taken(to));
        assert!(carries(&mut stream), "{to}");
        assert_eq!(who(&client, to, OTHER), "direct");
        assert!(udp_passes(&client, to), "{to}");
        assert_eq!(who(&router, to, TAKEN), "direct", "local connections are not asked for");
    }
    for own in ["10.9.1.1", ROUTER, "fd09:1::1"] {
        assert_eq!(who(&client, own, TAKEN), "router");
    }
    for stream in &mut earlier {
        assert!(carries(stream), "a connection from before");
    }
    proxy.end();
    assert_eq!(net.traces(), before);
    assert_eq!(who(&client, DESTINATION[0], TAKEN), "direct");
}

#[test]
fn takes_both() {
    let Some(net) = Net::new("both") else { return };
    let _proxy = Proxy::ready(&net, "both");
    assert_all_are_taken(&net);
}

/// Forwarded connections and local ones, of both families.
fn assert_all_are_taken(net: &Net) {
    for to in DESTINATION {
        for namespace in [net.client(), net.router()] {
            let (mut stream, greeting) = connect(&namespace, to, TAKEN);
            assert_eq!(greeting, taken(to));
            assert!(carries(&mut stream), "{to}");
        }
    }
}

#[test]
fn needs_no_laxer_check_of_sources() {
    let Some(net) = Net::new("strict") else { return };
    let settings = ["all.rp_filter=1", "all.src_valid_mark=1", "lo.rp_filter=1", "left.rp_filter=1"];
    for setting in settings {
        run(&format!("ip netns exec {} sysctl -qw net.ipv4.conf.{setting}", net.router()));
    }
    run(&format!("ip netns exec {} sysctl -qw net.ipv4.tcp_fwmark_accept=1", net.router()));
    let _proxy = Proxy::ready(&net, "both");
    for namespace in [net.client(), net.router()] {
        let (mut stream, greeting) = connect(&namespace, DESTINATION[0], TAKEN);
        assert_eq!(greeting, taken(DESTINATION[0]));
        assert!(carries(&mut stream));
    }
}

#[test]
fn takes_connections_by_syn_cookies() {
    let Some(net) = Net::new("cookies") else { return };
    let _proxy = Proxy::ready(&net, "both");
    // Always, as otherwise only under a flood.
    run(&format!("ip netns exec {} sysctl -qw net.ipv4.tcp_syncookies=2", net.router()));
    assert_all_are_taken(&net);
}

#[test]
fn nobody_connects_to_the_listeners_themselves() {
    let Some(net) = Net::new("direct") else { return };
    let _proxy = Proxy::ready(&net, "both");
    for address in ["127.0.0.1", "::1", ROUTER] {
        let address = SocketAddr::new(address.parse().expect("address"), PROXY);
        let error =
            inside(&net.router(), || TcpStream::connect_timeout(&address, PATIENCE)).expect_err("refused");
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused, "{address}");
    }
}

#[test]
fn kill_leaves_what_cleanup_takes_away() {
    let Some(net) = Net::new("kill") else { return };
    let (router, before) = (net.router(), net.traces());
    let proxy = Proxy::ready(&net, "both");
    assert_eq!(cleanup(net.directory.path()).expect("cleanup"), Vec::<String>::new(), "a living proxy");
    let mut streams = [net.client(), net.router()].map(|from| connect(&from, DESTINATION[0], TAKEN).0);
    let pid = proxy.process.id();
    proxy.kill();
    for stream in &mut streams {
        let error = stream.read(&mut [0; 1]).expect_err("no silent end");
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    }
    until("the table goes with its owner", || !net.has_table());
    assert_eq!(who(&router, DESTINATION[0], TAKEN), "direct", "even before cleanup");
    assert_ne!(net.traces(), before, "rules do not go by themselves");
    assert_eq!(net.records(), 1);

    let lines = cleanup(net.directory.path()).expect("cleanup");
    assert_eq!(lines.len(), 1);
    assert!(lines[0].starts_with(&format!("took back rules and routes of dead proxy {pid} in")), "{lines:?}");
    assert_eq!(net.traces(), before);
    assert_eq!(net.records(), 0);
    assert_eq!(cleanup(net.directory.path()).expect("cleanup"), Vec::<String>::new(), "nothing left");
}

#[test]
fn the_next_proxy_takes_over_from_a_dead_one() {
    let Some(net) = Net::new("next") else { return };
    let before = net.traces();
    Proxy::ready(&net, "both").kill();
    until("the table goes with its owner", || !net.has_table());
    // Whose record is lost too.
    fs::remove_file(
        fs::read_dir(net.directory.path())
            .expect("directory")
            .flatten()
            .map(|file| file.path())
            .find(|path| path.extension().is_some_and(|extension| extension == "json"))
            .expect("record"),
    )
    .expect("remove");
    Proxy::ready(&net, "both").kill();
    until("the table goes with its owner", || !net.has_table());
    let proxy = Proxy::ready(&net, "local");
    assert_eq!(who(&net.router(), DESTINATION[0], TAKEN), taken(DESTINATION[0]));
    proxy.end();
    assert_eq!(net.traces(), before);
}

#[test]
fn forgets_a_namespace_that_is_gone() {
    let Some(net) = Net::new("gone") else { return };
    Proxy::ready(&net, "local").kill();
    run(&format!("ip netns del {}", net.router()));
    let lines = cleanup(net.directory.path()).expect("cleanup");
    assert_eq!(lines.len(), 1);
    assert!(lines[0].contains("is gone; dropped its record"), "{lines:?}");
    assert_eq!(net.records(), 0);
}

#[test]
fn a_second_proxy_is_refused() {
    let Some(net) = Net::new("second") else { return };
    let proxy = Proxy::ready(&net, "local");
    let (_second, said) = Proxy::start(&net, "local", &[]);
    let pid = proxy.process.id();
    assert_eq!(
        said,
        format!(
            "refused clarion-proxy with process id {pid} already intercepts connections in this network namespace; \
             end it first"
        )
    );
    // One with another directory does not know the first, but the kernel does.
    let elsewhere = TempDir::new().expect("directory");
    let path = elsewhere.path().to_str().expect("path");
    let (_third, said) = Proxy::start(&net, "local", &[(DIRECTORY, path)]);
    assert!(said.starts_with("refused nftables table inet clarion_proxy cannot be made: another"), "{said}");
    assert!(!said.contains('\n'), "{said}");
    assert_eq!(who(&net.router(), DESTINATION[0], TAKEN), taken(DESTINATION[0]), "the first goes on");
}

#[test]
fn without_ipv6_only_ipv4_is_taken() {
    let Some(net) = Net::new("ipv4") else { return };
    let router = net.router();
    run(&format!("ip netns exec {router} sysctl -qw net.ipv6.conf.all.disable_ipv6=1"));
    let before = net.traces();
    let proxy = Proxy::ready(&net, "both");
    assert_eq!(who(&router, DESTINATION[0], TAKEN), taken(DESTINATION[0]));
    assert!(!answer(&format!("ip -n {router} -6 rule")).contains("fwmark"));
    proxy.end();
    assert_eq!(net.traces(), before);
}

#[test]
fn says_in_one_line_what_is_missing() {
    let Some(net) = Net::new("missing") else { return };
    let before = net.traces();
    let refusals = [
        ((UNPRIVILEGED, "1"), "refused transparent mode needs CAP_NET_ADMIN; run as root or with"),
        (
            ("PATH", "/nonexistent"),
            "refused transparent mode needs the program ip; install the Debian package iproute2",
        ),
    ];
    for (set, expected) in refusals {
        let (_proxy, said) = Proxy::start(&net, "local", &[set]);
        assert!(said.starts_with(expected), "{said}");
        assert!(!said.contains('\n'), "{said}");
    }
    // With `ip` but without `nft`: what was made by then is taken back.
    let programs = TempDir::new().expect("directory");
    let ip = answer("command -v ip");
    std::os::unix::fs::symlink(ip.trim(), programs.path().join("ip")).expect("link");
    let (_proxy, said) = Proxy::start(&net, "local", &[("PATH", programs.path().to_str().expect("path"))]);
    assert_eq!(said, "refused transparent mode needs the program nft; install the Debian package nftables");
    run(&format!("ip -n {} link set lo down", net.router()));
    let (_proxy, said) = Proxy::start(&net, "local", &[]);
    assert_eq!(said, "refused transparent mode needs the loopback device; run `ip link set lo up`");
    run(&format!("ip -n {} link set lo up", net.router()));
    assert_eq!(net.traces(), before);
    assert_eq!(net.records(), 0);
}
