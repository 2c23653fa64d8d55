// SPDX-License-Identifier: Apache-2.0
//! IPv4 routes of a device, kept at the MTU without the header while the device MTU includes it.
//!
//! A route is saved as the kernel's own message and put back by sending that message, so nothing about it
//! can get lost on the way. IPv6 needs none of this: it has an MTU of its own per device ([`crate::sysctl`]).

use std::io;

use anyhow::{Context, Result};

use crate::kernel::netlink::{push_attribute, read_u16, read_u32, Attributes, Netlink};

const ROUTE_BYTES: usize = 12; // struct rtmsg
const TABLE_LOCAL: u8 = 255;
const NEXTHOP_BYTES: usize = 8; // struct rtnexthop
const FLAG_ONLINK: u32 = 4;
const FLAG_CLONED: u32 = 0x200;

const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const RTA_METRICS: u16 = 8;
const RTA_MULTIPATH: u16 = 9;
const RTA_CACHEINFO: u16 = 12;
const RTA_TABLE: u16 = 15;
const RTA_VIA: u16 = 18;
const RTA_NH_ID: u16 = 30;
const RTAX_MTU: u16 = 2;

/// A unicast route through the device, as the message that would make it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route(Vec<u8>);

impl Route {
    /// All routes of the current namespace that leave through `ifindex`, but for the local table's.
    pub fn through(netlink: &mut Netlink, ifindex: u32) -> Result<Vec<Self>> {
        let mut request = vec![0u8; ROUTE_BYTES];
        request[0] = libc::AF_INET as u8;
        let replies = netlink.dump(libc::RTM_GETROUTE, &request).context("read routes")?;
        Ok(replies
            .iter()
            .filter(|reply| leaves_through(reply, ifindex))
            .map(|r| Self::from_reply(r))
            .collect())
    }

    /// The same route with an MTU of at most `mtu`; `None` if it has one that small.
    pub fn limited(&self, mtu: u32) -> Option<Self> {
        let mut metrics = Vec::new();
        for (kind, data) in self.attributes().filter(|(kind, _)| *kind == RTA_METRICS) {
            let _ = kind;
            for (metric, value) in Attributes(data) {
                if metric == RTAX_MTU && read_u32(value, 0).is_some_and(|own| own != 0 && own <= mtu) {
                    return None;
                }
                if metric != RTAX_MTU {
                    push_attribute(&mut metrics, metric, value);
                }
            }
        }
        push_attribute(&mut metrics, RTAX_MTU, &mtu.to_ne_bytes());
        let mut body = self.0[..ROUTE_BYTES].to_vec();
        for (kind, data) in self.attributes().filter(|(kind, _)| *kind != RTA_METRICS) {
            push_attribute(&mut body, kind, data);
        }
        push_attribute(&mut body, RTA_METRICS, &metrics);
        Some(Self(body))
    }

    /// Replaces the route of the same destination, table and priority. One that is gone stays gone.
    pub fn replace(&self, netlink: &mut Netlink) -> Result<()> {
        match netlink.change(libc::RTM_NEWROUTE, libc::NLM_F_REPLACE, &self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result.context("replace a route"),
        }
    }

    pub fn to_hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    pub fn from_hex(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() % 2 != 0 || digits.len() < 2 * ROUTE_BYTES {
            return None;
        }
        let pairs = digits.chunks_exact(2);
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        Some(Self(pairs.map(byte).collect::<Option<Vec<u8>>>()?))
    }

    /// Drops what the kernel reports but does not accept: state flags, cache data, and the next hop of a
    /// route that names a next-hop object.
    fn from_reply(reply: &[u8]) -> Self {
        let mut body = reply[..ROUTE_BYTES].to_vec();
        let flags = read_u32(&body, 8).unwrap_or(0) & FLAG_ONLINK;
        body[8..12].copy_from_slice(&flags.to_ne_bytes());
        let has_object = Attributes(&reply[ROUTE_BYTES..]).any(|(kind, _)| kind == RTA_NH_ID);
        for (kind, data) in Attributes(&reply[ROUTE_BYTES..]) {
            let of_object = [RTA_OIF, RTA_GATEWAY, RTA_VIA, RTA_MULTIPATH].contains(&kind);
            if kind != RTA_CACHEINFO && !(has_object && of_object) {
                push_attribute(&mut body, kind, data);
            }
        }
        Self(body)
    }

    fn attributes(&self) -> Attributes<'_> {
        Attributes(&self.0[ROUTE_BYTES..])
    }
}

fn leaves_through(reply: &[u8], ifindex: u32) -> bool {
    let (Some(table), Some(kind), Some(flags)) = (reply.get(4), reply.get(7), read_u32(reply, 8)) else {
        return false;
    };
    if *table == TABLE_LOCAL || *kind != libc::RTN_UNICAST || flags & FLAG_CLONED != 0 {
        return false;
    }
    Attributes(&reply[ROUTE_BYTES..]).any(|(kind, data)| match kind {
        RTA_TABLE => false,
        RTA_OIF => read_u32(data, 0) == Some(ifindex),
        RTA_MULTIPATH => nexthop_devices(data).any(|device| device == ifindex),
        _ => false,
    })
}

/// Device indices in an RTA_MULTIPATH attribute: a list of struct rtnexthop, each with its own length.
fn nexthop_devices(mut hops: &[u8]) -> impl Iterator<Item = u32> + '_ {
    std::iter::from_fn(move || {
        let length = read_u16(hops, 0)? as usize;
        let device = read_u32(hops, 4)?;
        hops = hops.get(length.max(NEXTHOP_BYTES).next_multiple_of(4)..).unwrap_or(&[]);
        Some(device)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(metrics: &[(u16, u32)]) -> Route {
        let mut body = vec![0u8; ROUTE_BYTES];
        push_attribute(&mut body, RTA_OIF, &7u32.to_ne_bytes());
        if !metrics.is_empty() {
            let mut nested = Vec::new();
            for (kind, value) in metrics {
                push_attribute(&mut nested, *kind, &value.to_ne_bytes());
            }
            push_attribute(&mut body, RTA_METRICS, &nested);
        }
        Route(body)
    }

    #[test]
    fn limits_a_plain_route() {
        assert_eq!(route(&[]).limited(1500), Some(route(&[(RTAX_MTU, 1500)])));
    }

    #[test]
    fn keeps_other_metrics_and_smaller_mtus() {
        assert_eq!(
            route(&[(13, 10), (RTAX_MTU, 9000)]).limited(1500),
            Some(route(&[(13, 10), (RTAX_MTU, 1500)]))
        );
        assert_eq!(route(&[(RTAX_MTU, 1400)]).limited(1500), None);
    }

    #[test]
    fn hex_round_trip() {
        let saved = route(&[(RTAX_MTU, 1400)]);
        assert_eq!(Route::from_hex(&saved.to_hex()), Some(saved));
        assert_eq!(Route::from_hex("0g"), None);
        assert_eq!(Route::from_hex("00"), None);
    }

    #[test]
    fn finds_the_devices_of_a_multipath_route() {
        let mut hops = Vec::new();
        for (length, device) in [(16u16, 3u32), (8, 9)] {
            let mut hop = length.to_ne_bytes().to_vec();
            hop.extend([0, 0]);
            hop.extend(device.to_ne_bytes());
            hop.resize(length as usize, 0);
            hops.extend(hop);
        }
        assert_eq!(nexthop_devices(&hops).collect::<Vec<_>>(), [3, 9]);
    }
}
