// SPDX-License-Identifier: Apache-2.0
//! Text of the nftables table (nft(8)).
//!
//! This host's packets are marked as they leave, which sends them round by the loopback device; there, and where
//! packets come to be forwarded, `tproxy` hands them to the listener, or to the connection that it has accepted.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::earlier::Earlier;
use super::family::Family;
use super::marks;
use crate::config::{Destination, TransparentSettings};

/// In the family inet.
pub const TABLE: &str = "clarion_proxy";
/// First packet of a connection.
const FIRST: &str = "tcp flags & (fin | syn | rst | ack) == syn";
/// So long, and so many connections, wait for their second packet.
const FRESH_S: u32 = 10;
const FRESH_MAX: u32 = 65_536;

/// The table, ready for `nft`.
pub fn text(settings: &TransparentSettings, families: &[Family], earlier: &[Earlier]) -> String {
    let mut text = Text::default();
    text.open(&format!("table inet {TABLE}"));
    // The table lives as long as the connection to the kernel that made it.
    text.line("flags owner;");
    if settings.local {
        local(&mut text, settings, families, earlier);
    }
    if settings.forwarded {
        forwarded(&mut text, settings, families);
    }
    direct(&mut text, settings, families);
    text.close();
    text.0
}

/// Packets of this host's programs.
fn local(text: &mut Text, settings: &TransparentSettings, families: &[Family], earlier: &[Earlier]) {
    for &family in families {
        earlier_set(text, family, earlier);
    }
    text.open("chain local_taken");
    // Connections within this host, by whichever of its addresses.
    text.line("fib daddr type local return;");
    // What the proxy says in the name of others, to those whose connections this host forwards.
    text.line("fib saddr type != local return;");
    for &family in families {
        text.line(&format!("{} @{} return;", connection(family), earlier_name(family)));
    }
    text.line(&format!("meta mark set {:#x};", marks::LOCAL));
    text.close();

    destinations(text, "local", settings, families);

    text.open("chain output");
    // A chain of type route has the packet routed again if its mark has changed.
    text.line("type route hook output priority mangle; policy accept;");
    text.line("meta l4proto != tcp return;");
    text.line(&format!("meta mark {:#x} return;", marks::OWN));
    text.line("jump local_destinations;");
    text.close();

    text.open("chain local_prerouting");
    text.line("type filter hook prerouting priority mangle; policy accept;");
    // Not only first packets: of a SYN cookie's connection there is nothing yet when its second packet comes.
    for &family in families {
        let to = tproxy(family, settings.port);
        text.line(&format!("iif \"lo\" meta mark {:#x} {to} accept;", marks::LOCAL));
    }
    text.close();
}

/// Packets that this host would forward.
fn forwarded(text: &mut Text, settings: &TransparentSettings, families: &[Family]) {
    let marked = format!("meta mark set {:#x} accept;", marks::FORWARDED);
    for &family in families {
        fresh_set(text, family);
    }
    text.open("chain forwarded_taken");
    text.line("fib daddr type local return;");
    for &family in families {
        text.line(&format!("{FIRST} update @{} {{ {} }};", fresh(family), connection(family)));
    }
    for &family in families {
        text.line(&format!("{} {marked}", tproxy(family, settings.port)));
    }
    text.close();

    destinations(text, "forwarded", settings, families);

    text.open("chain forwarded_prerouting");
    text.line("type filter hook prerouting priority mangle; policy accept;");
    text.line("meta l4proto != tcp return;");
    text.line("iif \"lo\" return;");
    // Only first packets are taken by destination: connections from before the interception are left alone.
    text.line(&format!("{FIRST} goto forwarded_destinations;"));
    text.line(&format!("socket transparent 1 {marked}"));
    for &family in families {
        text.line(&format!("{} @{} goto forwarded_taken;", connection(family), fresh(family)));
    }
    text.close();
}

/// No client connects to the listeners themselves: such a connection has no destination but the proxy.
fn direct(text: &mut Text, settings: &TransparentSettings, families: &[Family]) {
    text.open("chain direct");
    text.line("type filter hook input priority filter; policy accept;");
    for &family in families {
        let (name, address, port) = (name(family), family.listen_address(), settings.port);
        text.line(&format!("{name} daddr {address} tcp dport {port} {FIRST} reject with tcp reset;"));
    }
    text.close();
}

/// A chain that goes to `..._taken` for the destinations.
fn destinations(text: &mut Text, way: &str, settings: &TransparentSettings, families: &[Family]) {
    text.open(&format!("chain {way}_destinations"));
    if families.contains(&Family::Ipv6) {
        // A link-local address means nothing to the other end of the tunnel.
        text.line("ip6 daddr fe80::/10 return;");
    }
    for destination in &settings.destinations {
        if families.contains(&Family::of(destination.address)) {
            text.line(&format!("{} goto {way}_taken;", matching(destination)));
        }
    }
    text.close();
}

fn matching(destination: &Destination) -> String {
    let family = Family::of(destination.address);
    let network = network(destination);
    let address = match destination.prefix_bits {
        0 => format!("meta nfproto {}", protocol(family)),
        bits => format!("{} daddr {network}/{bits}", name(family)),
    };
    match destination.ports {
        (0, u16::MAX) => address,
        (first, last) if first == last => format!("{address} tcp dport {first}"),
        (first, last) => format!("{address} tcp dport {first}-{last}"),
    }
}

/// The address without the bits behind the prefix.
fn network(destination: &Destination) -> IpAddr {
    let bits = u32::from(destination.prefix_bits);
    match destination.address {
        IpAddr::V4(ip) => {
            let mask = u32::MAX.checked_shl(32u32.saturating_sub(bits)).unwrap_or(0);
            Ipv4Addr::from(u32::from(ip) & mask).into()
        }
        IpAddr::V6(ip) => {
            let mask = u128::MAX.checked_shl(128u32.saturating_sub(bits)).unwrap_or(0);
            Ipv6Addr::from(u128::from(ip) & mask).into()
        }
    }
}

/// What a packet is looked up by in sets of connections.
fn connection(family: Family) -> String {
    let name = name(family);
    format!("{name} saddr . tcp sport . {name} daddr . tcp dport")
}

fn connection_type(family: Family) -> &'static str {
    match family {
        Family::Ipv4 => "type ipv4_addr . inet_service . ipv4_addr . inet_service;",
        Family::Ipv6 => "type ipv6_addr . inet_service . ipv6_addr . inet_service;",
    }
}

/// Connections whose first packet was taken a moment ago. When the listener answers a flood with SYN cookies, it
/// knows nothing of a connection until its second packet, which is known by this.
fn fresh_set(text: &mut Text, family: Family) {
    text.open(&format!("set {}", fresh(family)));
    text.line(connection_type(family));
    text.line(&format!("flags dynamic, timeout; timeout {FRESH_S}s; size {FRESH_MAX};"));
    text.close();
}

fn earlier_set(text: &mut Text, family: Family, earlier: &[Earlier]) {
    let elements: Vec<String> = earlier
        .iter()
        .filter(|each| Family::of(each.remote.ip()) == family)
        .map(|Earlier { local, remote }| {
            format!("{} . {} . {} . {}", local.ip(), local.port(), remote.ip(), remote.port())
        })
        .collect();
    text.open(&format!("set {}", earlier_name(family)));
    text.line(connection_type(family));
    if !elements.is_empty() {
        text.line(&format!("elements = {{ {} }};", elements.join(", ")));
    }
    text.close();
}

fn tproxy(family: Family, port: u16) -> String {
    let address = match family.listen_address() {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    };
    format!("meta nfproto {} meta l4proto tcp tproxy {} to {address}:{port}", protocol(family), name(family))
}

fn name(family: Family) -> &'static str {
    match family {
        Family::Ipv4 => "ip",
        Family::Ipv6 => "ip6",
    }
}

fn protocol(family: Family) -> &'static str {
    match family {
        Family::Ipv4 => "ipv4",
        Family::Ipv6 => "ipv6",
    }
}

fn earlier_name(family: Family) -> &'static str {
    match family {
        Family::Ipv4 => "earlier_ipv4",
        Family::Ipv6 => "earlier_ipv6",
    }
}

fn fresh(family: Family) -> &'static str {
    match family {
        Family::Ipv4 => "fresh_ipv4",
        Family::Ipv6 => "fresh_ipv6",
    }
}

/// Statements on one line, as the interactive `nft` wants them.
#[derive(Default)]
struct Text(String);

impl Text {
    fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push(' ');
    }

    fn open(&mut self, what: &str) {
        self.line(&format!("{what} {{"));
    }

    fn close(&mut self) {
        self.line("};");
    }
}
