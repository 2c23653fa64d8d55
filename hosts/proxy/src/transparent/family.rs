// SPDX-License-Identifier: Apache-2.0
//! IPv4 and IPv6, as far as settings and namespace have them.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};

use crate::config::TransparentSettings;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    Ipv4,
    Ipv6,
}

impl Family {
    pub fn of(address: IpAddr) -> Self {
        if address.is_ipv4() { Self::Ipv4 } else { Self::Ipv6 }
    }

    /// Those of the destinations that this namespace can have.
    pub fn of_settings(settings: &TransparentSettings) -> Result<Vec<Self>> {
        let destinations = &settings.destinations;
        ensure!(!destinations.is_empty(), "transparent mode has no destinations; name some with --take");
        let has = |family| destinations.iter().any(|each| Self::of(each.address) == family);
        let mut families = Vec::new();
        if has(Self::Ipv4) {
            families.push(Self::Ipv4);
        }
        if has(Self::Ipv6) && has_ipv6() {
            families.push(Self::Ipv6);
        }
        ensure!(
            !families.is_empty(),
            "all destinations of transparent mode are IPv6, which is disabled here; \
             set net.ipv6.conf.all.disable_ipv6=0 or name IPv4 destinations with --take"
        );
        Ok(families)
    }

    /// Address of the listeners. Not the wildcard: then any host could connect to them, and `socket transparent`
    /// would take what is forwarded to this port of other hosts for their connections.
    pub fn listen_address(self) -> IpAddr {
        match self {
            Self::Ipv4 => Ipv4Addr::LOCALHOST.into(),
            Self::Ipv6 => Ipv6Addr::LOCALHOST.into(),
        }
    }

    /// Option of `ip`.
    pub fn option(self) -> &'static str {
        match self {
            Self::Ipv4 => "-4",
            Self::Ipv6 => "-6",
        }
    }

    /// Everything, as a destination of a route.
    pub fn everything(self) -> &'static str {
        match self {
            Self::Ipv4 => "0.0.0.0/0",
            Self::Ipv6 => "::/0",
        }
    }
}

/// Marked packets come in by the loopback device: it too must have IPv6.
fn has_ipv6() -> bool {
    let is_on = |name: &str| {
        fs::read_to_string(format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6"))
            .is_ok_and(|disabled| disabled.trim() == "0")
    };
    is_on("all") && is_on("lo")
}
