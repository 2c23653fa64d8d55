// SPDX-License-Identifier: Apache-2.0
//! Kernel settings of the current network namespace, by their path under /proc/sys/net.

use std::fs;
use std::io;
use std::path::PathBuf;

use anyhow::{Context, Result};

pub const CONGESTION_CONTROL: &str = "ipv4/tcp_congestion_control";
pub const AVAILABLE: &str = "ipv4/tcp_available_congestion_control";
pub const ALLOWED: &str = "ipv4/tcp_allowed_congestion_control";

/// The IPv6 MTU of a device.
pub fn mtu_ip6(device: &str) -> String {
    format!("ipv6/conf/{device}/mtu")
}

pub fn read(setting: &str) -> Result<String> {
    let path = path_of(setting);
    let text = fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
    Ok(text.trim_end().to_owned())
}

/// The value of a setting that some kernels lack.
pub fn read_number(setting: &str) -> Option<u32> {
    read(setting).ok()?.parse().ok()
}

pub fn write(setting: &str, value: &str) -> Result<()> {
    let path = path_of(setting);
    try_write(setting, value).with_context(|| format!("write {value} to {}", path.display()))
}

pub fn try_write(setting: &str, value: &str) -> io::Result<()> {
    fs::write(path_of(setting), value)
}

fn path_of(setting: &str) -> PathBuf {
    PathBuf::from("/proc/sys/net").join(setting)
}
