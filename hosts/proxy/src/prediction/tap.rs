// SPDX-License-Identifier: Apache-2.0
//! Between noq and a congestion controller: listens to what becomes of packets.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use noq_proto::{RttEstimator, Transmit};

use super::resend::{Counts, Resends};

/// The prediction of one tunnel. Copies are of the same.
#[derive(Clone, Debug)]
pub struct Prediction(Arc<Mutex<Resends>>);

impl Prediction {
    /// `threshold`: probability in (0, 1) of being lost at which a packet is sent again.
    pub fn new(threshold: f64) -> Self {
        Self(Arc::new(Mutex::new(Resends::new(threshold))))
    }

    /// The same controllers, listened to. They have to be those of the tunnel.
    pub fn listen<F: ControllerFactory + Send + Sync + 'static>(&self, factory: F) -> Listening<F> {
        Listening { factory: Arc::new(factory), prediction: self.clone() }
    }

    pub fn counts(&self) -> Counts {
        self.with(|resends| resends.counts())
    }

    pub(crate) fn keep(&self, now: Instant, transmit: &Transmit, contents: &[u8]) {
        self.with(|resends| resends.keep(now, transmit, contents));
    }

    pub(crate) fn due_at(&self) -> Option<Instant> {
        self.with(|resends| resends.due_at())
    }

    pub(crate) fn on_timeout(&self, now: Instant) {
        self.with(|resends| resends.on_timeout(now));
    }

    pub(crate) fn take(&self, now: Instant, buffer: &mut Vec<u8>) -> Option<Transmit> {
        self.with(|resends| resends.take(now, buffer))
    }

    fn with<T>(&self, act: impl FnOnce(&mut Resends) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Makes controllers that are listened to.
#[derive(Debug)]
pub struct Listening<F> {
    factory: Arc<F>,
    prediction: Prediction,
}

impl<F: ControllerFactory> ControllerFactory for Listening<F> {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        self.prediction.with(|resends| resends.restart(current_mtu));
        let controller = self.factory.clone().build(now, current_mtu);
        Box::new(Tap::new(controller, self.prediction.clone(), current_mtu))
    }
}

/// A controller that is listened to.
#[derive(Debug)]
pub struct Tap {
    controller: Box<dyn Controller>,
    prediction: Prediction,
    mtu_bytes: u16,
    in_flight_bytes: u64,
}

impl Tap {
    fn new(controller: Box<dyn Controller>, prediction: Prediction, mtu_bytes: u16) -> Self {
        Self { controller, prediction, mtu_bytes, in_flight_bytes: 0 }
    }

    fn tell(&self, what: impl FnOnce(&mut Resends)) {
        let (window_bytes, in_flight_bytes) = (self.controller.window(), self.in_flight_bytes);
        self.prediction.with(|resends| {
            what(resends);
            resends.set_window(window_bytes, in_flight_bytes);
        });
    }
}

impl Controller for Tap {
    fn on_sent(&mut self, now: Instant, bytes: u64, largest_pn: u64) {
        self.controller.on_sent(now, bytes, largest_pn);
    }

    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        self.controller.on_packet_sent(now, bytes, pn);
        self.in_flight_bytes += u64::from(bytes);
        self.tell(|resends| resends.on_written(pn, bytes));
    }

    fn on_cwnd_limited(&mut self) {
        self.controller.on_cwnd_limited();
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        pn: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.controller.on_ack(now, sent, bytes, pn, app_limited, rtt);
        self.prediction.with(|resends| resends.on_acked(now, sent, pn));
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.controller.on_end_acks(now, in_flight, app_limited, largest);
        self.in_flight_bytes = in_flight;
        self.tell(Resends::end_acks);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        is_ecn: bool,
        lost_bytes: u64,
        largest_lost_pn: u64,
    ) {
        self.controller.on_congestion_event(
            now,
            sent,
            is_persistent_congestion,
            is_ecn,
            lost_bytes,
            largest_lost_pn,
        );
        self.tell(|_| {});
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, pn: u64, now: Instant) {
        self.controller.on_packet_lost(lost_bytes, pn, now);
        self.in_flight_bytes = self.in_flight_bytes.saturating_sub(lost_bytes.into());
        self.prediction.with(|resends| resends.on_lost(pn));
    }

    fn on_spurious_congestion_event(&mut self) {
        self.controller.on_spurious_congestion_event();
        self.tell(|_| {});
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.controller.on_mtu_update(new_mtu);
        self.mtu_bytes = new_mtu;
        self.tell(|resends| resends.set_mtu(new_mtu));
    }

    fn on_ack_frequency_update(&mut self, ack_eliciting_threshold: u64, requested_max_ack_delay: Duration) {
        self.controller.on_ack_frequency_update(ack_eliciting_threshold, requested_max_ack_delay);
    }

    fn window(&self) -> u64 {
        self.controller.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.controller.metrics()
    }

    /// For a path that is the old one at another port of the peer.
    fn clone_box(&self) -> Box<dyn Controller> {
        self.prediction.with(|resends| resends.restart(self.mtu_bytes));
        Box::new(Self::new(self.controller.clone_box(), self.prediction.clone(), self.mtu_bytes))
    }

    fn initial_window(&self) -> u64 {
        self.controller.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.controller.into_any()
    }
}
