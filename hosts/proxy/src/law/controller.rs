// SPDX-License-Identifier: Apache-2.0
//! A law as noq's congestion controller.
//!
//! The order of noq's calls: `on_ack` for each packet of an ACK frame, `on_end_acks`, then the losses that it shows
//! (`on_packet_lost` for each, `on_congestion_event` for all), then a mark. So a law books losses with the ACK after
//! the one that shows them.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerMetrics};

use crate::header::{Channel, Request};

use super::connection::Host;
use super::counters::{Counters, REASONS};
use super::ffi::{LawRequest, Lost, NO_RATE};
use super::recovery::CaState;
use super::registry::{Entry, Form};
use super::{first_form, second_form};

/// `enum stack_event`
const TX_START: u8 = 0;

/// One law on one path.
#[derive(Debug)]
pub struct LawController {
    entry: Entry,
    host: Host,
    channel: Arc<dyn Channel>,
    counters: Arc<Counters>,
    initial_window_bytes: u64,
    /// What the headers have been told to ask for.
    asked: Option<Request>,
    reported: Reported,
    /// Sequence of the newest packet that has been declared lost.
    newest_lost: Option<u64>,
}

/// What of this law is in the counters already.
#[derive(Clone, Copy, Debug, Default)]
struct Reported {
    reductions: [u32; REASONS],
    delivered: u32,
    lost: u32,
}

impl LawController {
    pub(super) fn new(entry: Entry, host: Host, channel: Arc<dyn Channel>, counters: Arc<Counters>) -> Self {
        let mut controller = Self {
            entry,
            host,
            channel,
            counters,
            initial_window_bytes: 0,
            asked: None,
            reported: Reported::default(),
            newest_lost: None,
        };
        controller.hear();
        if entry.form == Form::First {
            controller.host.start();
        }
        controller.initial_window_bytes = controller.host.window_bytes();
        controller.report();
        controller
    }

    /// The registry's name of the law.
    pub fn law(&self) -> &'static str {
        self.entry.name
    }

    /// Packets, at least 2.
    pub fn window_packets(&self) -> u32 {
        self.host.control.cwnd.max(2)
    }

    /// Bytes of datagrams per second; `None`: no round trip has been measured yet.
    pub fn pacing_bytes_per_s(&self) -> Option<u64> {
        Some(self.host.control.pacing_bytes_per_s).filter(|&rate| rate != NO_RATE).map(|rate| rate.max(1))
    }

    /// Packets in flight, as far as the law knows of them: no MTU probes.
    pub fn in_flight_packets(&self) -> u32 {
        self.host.transport.sent.in_flight()
    }

    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// One packet of an ACK frame: `on_ack` without what a law has no use for.
    pub fn acknowledge(&mut self, now: Instant, sent: Instant, pn: u64) {
        self.host.transport.tick(now);
        let began_at = self.host.recovery.began_at();
        self.host.transport.acknowledge(pn, sent, began_at);
    }

    fn hear(&mut self) {
        self.host.hear(self.channel.echo());
    }

    fn enter(&mut self, next: CaState) {
        match self.entry.form {
            Form::First => first_form::enter(&mut self.host, next),
            form => second_form::enter(&mut self.host, form, next, self.entry.restarts_after_loss()),
        }
    }

    fn leave(&mut self) {
        match self.entry.form {
            Form::First => first_form::leave(&mut self.host),
            form => second_form::leave(&mut self.host, form),
        }
    }

    /// Hands on what the law has decided: to the headers, and to whoever asks for status.
    fn report(&mut self) {
        let request = request_of(self.host.law.request());
        if self.asked != Some(request) {
            self.asked = Some(request);
            self.channel.request(request);
        }
        self.report_reductions();
        let transport = &self.host.transport;
        let (delivered, lost) = (transport.rate.delivered(), transport.lost);
        self.counters.add_packets(
            delivered.wrapping_sub(self.reported.delivered),
            lost.wrapping_sub(self.reported.lost),
        );
        self.reported.delivered = delivered;
        self.reported.lost = lost;
        self.counters.show_window(self.host.window_bytes(), self.pacing_bytes_per_s().unwrap_or(0));
        self.counters.show_round_trip(transport.round_trip.srtt_us(), transport.round_trip.min_us());
    }

    fn report_reductions(&mut self) {
        for (reason, reported) in (0..).zip(&mut self.reported.reductions) {
            let now = self.host.law.reductions(reason);
            self.counters.add_reductions(reason as usize, now.wrapping_sub(*reported));
            *reported = now;
        }
    }
}

fn request_of(request: LawRequest) -> Request {
    Request {
        wanted: request.wanted != 0,
        field: request.field,
        ect1: request.ect1 != 0,
        rtt: request.rtt,
        x: request.x,
        delta_throughput: request.delta_throughput,
        full_len: request.full_len,
    }
}

impl Controller for LawController {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        self.channel.note_eliciting();
        self.host.transport.tick(now);
        if self.host.transport.is_probe(bytes) {
            return;
        }
        if self.host.transport.sent.in_flight() == 0 && self.host.is_started() {
            self.hear();
            self.host.change(|law, connection| law.on_event(connection, TX_START));
            self.report();
        }
        let window_bytes = self.host.window_bytes();
        self.host.transport.send(pn, bytes, window_bytes);
    }

    fn on_cwnd_limited(&mut self) {
        self.host.transport.note_usage(true);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        _bytes: u64,
        pn: u64,
        _app_limited: bool,
        _rtt: &RttEstimator,
    ) {
        self.acknowledge(now, sent, pn);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _largest: Option<u64>) {
        self.host.transport.tick(now);
        self.host.transport.sent.forget_down_to(in_flight);
        let Some((acked, ack)) = self.host.transport.finish() else { return };
        self.hear();
        self.host.start();
        let form = self.entry.form;
        if form != Form::First {
            second_form::on_acked(&mut self.host, &ack);
        }
        let next = self.host.transport.sent.next();
        if self.host.recovery.ends_with(acked.newest_sequence, next) {
            self.leave();
        }
        match form {
            Form::First => first_form::on_ack(&mut self.host, &ack),
            form => second_form::on_ack(&mut self.host, form, &acked, &ack),
        }
        if app_limited {
            let window_bytes = self.host.window_bytes();
            self.host.transport.mark_app_limited(window_bytes);
        }
        self.report();
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, pn: u64, now: Instant) {
        self.host.transport.tick(now);
        let Some(packet) = self.host.transport.lose(pn, lost_bytes) else { return };
        self.newest_lost = self.newest_lost.max(Some(packet.sequence));
        let lost = Lost {
            sent_in_flight: packet.stamp.in_flight,
            lost: self.host.transport.lost.wrapping_sub(packet.stamp.lost),
            is_app_limited: packet.stamp.is_app_limited.into(),
        };
        self.host.change(|law, connection| law.on_lost(connection, &lost));
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        _sent: Instant,
        is_persistent_congestion: bool,
        is_ecn: bool,
        _lost_bytes: u64,
        _largest_lost_pn: u64,
    ) {
        self.host.transport.tick(now);
        self.hear();
        let newest_lost = self.newest_lost.take();
        let newest = if is_ecn { self.host.transport.highest_acked() } else { newest_lost };
        let Some(newest) = newest else { return };
        if is_ecn {
            self.host.transport.mark();
        }
        // Once for all packets that were sent before the last reduction (RFC 9002, 7.3.1).
        let is_new = self.host.recovery.state() == CaState::Open && self.host.recovery.is_after(newest);
        if is_persistent_congestion {
            self.enter(CaState::Loss);
        } else if is_new {
            self.enter(if is_ecn { CaState::Cwr } else { CaState::Recovery });
        }
        self.report();
    }

    fn on_spurious_congestion_event(&mut self) {
        self.host.transport.saw_reordering = true;
        let Some(ssthresh) = self.host.recovery.take_undo() else { return };
        match self.entry.form {
            Form::First => first_form::undo(&mut self.host),
            form => second_form::undo(&mut self.host, form, ssthresh),
        }
        self.counters.add_undone();
        self.report();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.host.transport.mtu_bytes = new_mtu;
        self.report();
    }

    fn window(&self) -> u64 {
        self.host.window_bytes()
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.host.window_bytes();
        metrics.ssthresh =
            Some(u64::from(self.host.control.ssthresh) * u64::from(self.host.transport.mtu_bytes));
        metrics.pacing_rate = self.pacing_bytes_per_s();
        metrics
    }

    /// For a path that is the old one at another port of the peer: the law goes on as it is.
    fn clone_box(&self) -> Box<dyn Controller> {
        let Some(host) = self.host.duplicate() else {
            // As Box::new() itself does.
            std::alloc::handle_alloc_error(std::alloc::Layout::new::<Host>());
        };
        Box::new(Self {
            entry: self.entry,
            host,
            channel: self.channel.clone(),
            counters: self.counters.clone(),
            initial_window_bytes: self.initial_window_bytes,
            asked: None,
            reported: self.reported,
            newest_lost: None,
        })
    }

    fn initial_window(&self) -> u64 {
        self.initial_window_bytes
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
