// SPDX-License-Identifier: Apache-2.0
//! The order in which a law of the first form is called (hosts/bpf/cc/ops.h): it sets window and rate at every
//! acknowledgement and at every change of state, and reports its own reductions.

use super::connection::Host;
use super::ffi::Ack;
use super::recovery::CaState;

pub fn on_ack(host: &mut Host, ack: &Ack) {
    host.change(|law, connection| law.on_ack(connection, ack));
}

pub fn enter(host: &mut Host, next: CaState) {
    host.change(|law, connection| law.on_state(connection, next as u8));
    let next_packet = host.transport.sent.next();
    host.recovery.enter(next, 1, next_packet, Some(host.control.ssthresh));
}

pub fn leave(host: &mut Host) {
    host.change(|law, connection| law.on_state(connection, CaState::Open as u8));
    host.recovery.leave();
}

/// The law takes its reduction back; the change of state writes the window.
pub fn undo(host: &mut Host) {
    host.control.cwnd = host.ask(|law, connection| law.undo(connection)).min(host.cwnd_clamp);
    leave(host);
}
