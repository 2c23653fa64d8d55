// SPDX-License-Identifier: Apache-2.0
//! The order in which a law of the second form is called (hosts/bpf/cc/stack.h), and what its transport does for it.
//!
//! Two things are QUIC's. A reduction takes effect at once (RFC 9002, 7.3.2), where TCP spreads it over a round
//! trip. And what was sent before a reduction does not let the window grow (the same).

use super::connection::Host;
use super::counters::Reason;
use super::ffi::{Ack, NO_RATE};
use super::recovery::CaState;
use super::registry::Form;
use super::transport::Acked;

/// `enum stack_event`
const COMPLETE_CWR: u8 = 2;
const LOSS: u8 = 3;

/// Smallest window of QUIC (RFC 9002, 7.2), packets.
const LEAST_CWND: u32 = 2;

/// How long the recovery of a law that sets the window itself lasts: as TCP's (recovery.rs).
const RATE_RECOVERY_ROUNDS: u8 = 2;

/// Pacing of a law that has no rate of its own, in percent of a window per round trip: those of Linux
/// (net.ipv4.tcp_pacing_ss_ratio, tcp_pacing_ca_ratio). noq's own 125 % would hold back a window that doubles: ACKs
/// of a round trip release twice what was sent in the one before, and a window that is never used up does not grow.
const START_PACING_PERCENT: u64 = 200;
const PACING_PERCENT: u64 = 120;

/// What is called before the state may change.
pub fn on_acked(host: &mut Host, ack: &Ack) {
    host.change(|law, connection| law.on_acked(connection, ack.acked_packets, ack.rtt_us));
}

pub fn on_ack(host: &mut Host, form: Form, acked: &Acked, ack: &Ack) {
    if form == Form::Rate {
        host.change(|law, connection| law.on_ack(connection, ack));
        return;
    }
    if !host.recovery.is_reducing() && acked.grown_packets > 0 {
        host.change(|law, connection| law.grow(connection, acked.grown_packets));
    }
    update_pacing_rate(host);
}

/// `tcp_update_pacing_rate`
fn update_pacing_rate(host: &mut Host) {
    let srtt_us = u64::from(host.transport.round_trip.srtt_us());
    let control = &mut host.control;
    if srtt_us == 0 {
        control.pacing_bytes_per_s = NO_RATE;
        return;
    }
    let percent = if control.cwnd < control.ssthresh / 2 { START_PACING_PERCENT } else { PACING_PERCENT };
    let packets = control.cwnd.max(host.transport.sent.in_flight());
    let window_bytes = u64::from(packets) * u64::from(host.transport.mtu_bytes);
    control.pacing_bytes_per_s = (window_bytes * 1_000_000 / srtt_us * percent / 100).max(1);
}

/// `tcp_current_ssthresh`: what a reduction that is taken back gives back.
fn current_ssthresh(host: &Host) -> u32 {
    if host.recovery.is_reducing() {
        return host.control.ssthresh;
    }
    host.control.ssthresh.max(host.control.cwnd / 2 + host.control.cwnd / 4)
}

/// `tcp_enter_recovery`, `tcp_enter_cwr`, `tcp_enter_loss`. `restarts`: a loss is answered as persistent congestion
/// is (Tahoe).
pub fn enter(host: &mut Host, form: Form, next: CaState, restarts: bool) {
    let reason = reason_of(next);
    let next = if restarts && next == CaState::Recovery { CaState::Loss } else { next };
    let undo_ssthresh = Some(current_ssthresh(host)).filter(|_| !restarts && next != CaState::Cwr);
    let before = host.control.cwnd;
    host.control.cwnd_count = 0;
    host.control.ssthresh = host.ask(|law, connection| law.ssthresh(connection));
    if next == CaState::Loss {
        host.change(|law, connection| law.on_event(connection, LOSS));
        host.control.cwnd = LEAST_CWND;
    }
    host.change(|law, connection| law.on_state(connection, next as u8));
    if form == Form::Stack && next != CaState::Loss {
        host.control.cwnd = host.control.cwnd.min(host.control.ssthresh).max(LEAST_CWND);
    }
    if host.control.cwnd < before {
        host.law.note_reduction(reason as u32);
    }
    if form == Form::Stack {
        update_pacing_rate(host);
    }
    let next_packet = host.transport.sent.next();
    let rounds = if form == Form::Rate { RATE_RECOVERY_ROUNDS } else { 1 };
    host.recovery.enter(next, rounds, next_packet, undo_ssthresh);
}

fn reason_of(next: CaState) -> Reason {
    match next {
        CaState::Cwr => Reason::Ecn,
        CaState::Loss => Reason::Timeout,
        CaState::Recovery | CaState::Open => Reason::Loss,
    }
}

/// `tcp_end_cwnd_reduction`
pub fn leave(host: &mut Host, form: Form) {
    if form == Form::Stack && host.recovery.is_reducing() {
        host.control.cwnd = host.control.ssthresh.clamp(LEAST_CWND, host.cwnd_clamp);
        host.change(|law, connection| law.on_event(connection, COMPLETE_CWR));
    }
    host.change(|law, connection| law.on_state(connection, CaState::Open as u8));
    host.recovery.leave();
}

/// `tcp_undo_cwnd_reduction`
pub fn undo(host: &mut Host, form: Form, ssthresh: u32) {
    let cwnd = host.ask(|law, connection| law.undo(connection));
    host.control.cwnd = cwnd.min(host.cwnd_clamp);
    host.control.ssthresh = host.control.ssthresh.max(ssthresh);
    host.change(|law, connection| law.on_state(connection, CaState::Open as u8));
    host.recovery.leave();
    if form == Form::Stack {
        update_pacing_rate(host);
    }
}
