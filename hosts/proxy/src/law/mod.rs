// SPDX-License-Identifier: Apache-2.0
//! Clarion's congestion-control laws as congestion controllers of QUIC.
//!
//! A law is one header of hosts/bpf/cc, the same that the kernel and the simulator run; `laws/` compiles it for this
//! machine and `ffi` calls it. `transport` is what TCP would know of a connection, made of what noq tells its
//! controllers; `recovery` keeps the states of loss recovery; `first_form` and `second_form` call the laws in the
//! order in which TCP does.

mod connection;
mod controller;
mod counters;
mod delivery_rate;
mod factory;
mod ffi;
mod first_form;
mod recovery;
mod registry;
mod round_trip;
mod second_form;
mod sent;
mod transport;
mod usage;

pub use controller::LawController;
pub use counters::{Counters, Reason};
pub use factory::LawFactory;
pub use registry::{Form, LawError, Parameter, find, names, parameters};
