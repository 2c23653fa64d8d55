// SPDX-License-Identifier: Apache-2.0
//! Carries unmodified TCP applications over QUIC, driven by Clarion's congestion-control laws.
//!
//! `tunnel` is the core: QUIC and the TCP connections that it carries as one state machine without sockets, clocks
//! or threads, so that tests run it in virtual time. `driver` gives it sockets and time. `law` and `header` are what
//! it knows of Clarion: the laws of hosts/bpf/cc, and the headers that the shim puts on its packets.

pub mod cli;
pub mod config;
pub mod driver;
pub mod header;
pub mod keys;
pub mod law;
pub mod observe;
pub mod options;
pub mod prediction;
pub mod transparent;
pub mod tunnel;
