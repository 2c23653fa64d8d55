// SPDX-License-Identifier: Apache-2.0
//! What a law has done, for status and metrics: read by other threads while the law runs.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Why a law has made its window smaller: `enum flow_reason` of hosts/bpf/flow.h.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Reason {
    /// A queue of the path dropped packets, as its total says.
    Congestion = 1,
    /// More losses than the totals explain.
    Unexplained = 2,
    /// Any loss: causes are unknown or unused.
    Loss = 3,
    /// Persistent congestion (RFC 9002, 7.6), what a timeout is to TCP.
    Timeout = 4,
    /// A standing queue, seen as delay.
    Delay = 5,
    /// A queue marked packets.
    Ecn = 6,
    /// Losses tagged as corruption that behave like congestion.
    Contradicted = 7,
    /// A queue of this host dropped packets.
    Local = 8,
}

/// `FLOW_REASONS`
pub const REASONS: usize = 9;

impl Reason {
    pub const ALL: [Self; REASONS - 1] = [
        Self::Congestion,
        Self::Unexplained,
        Self::Loss,
        Self::Timeout,
        Self::Delay,
        Self::Ecn,
        Self::Contradicted,
        Self::Local,
    ];

    /// The word for it in status and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Congestion => "congestion",
            Self::Unexplained => "unexplained",
            Self::Loss => "loss",
            Self::Timeout => "timeout",
            Self::Delay => "delay",
            Self::Ecn => "ecn",
            Self::Contradicted => "contradicted",
            Self::Local => "local",
        }
    }
}

/// Figures of the controllers of one factory; those of gauges are of the controller that ran last.
#[derive(Debug, Default)]
pub struct Counters {
    reductions: [AtomicU64; REASONS],
    undone: AtomicU64,
    window_bytes: AtomicU64,
    pacing_bytes_per_s: AtomicU64,
    srtt_us: AtomicU32,
    min_rtt_us: AtomicU32,
    delivered_packets: AtomicU64,
    lost_packets: AtomicU64,
}

impl Counters {
    /// Reductions of the window for that reason.
    pub fn reductions(&self, reason: Reason) -> u64 {
        self.reductions[reason as usize].load(Ordering::Relaxed)
    }

    /// Reductions for whatever reason.
    pub fn all_reductions(&self) -> u64 {
        Reason::ALL.iter().map(|&reason| self.reductions(reason)).sum()
    }

    /// Reductions that were taken back, as no packet had been lost.
    pub fn undone(&self) -> u64 {
        self.undone.load(Ordering::Relaxed)
    }

    pub fn window_bytes(&self) -> u64 {
        self.window_bytes.load(Ordering::Relaxed)
    }

    /// 0: the law has no rate of its own yet.
    pub fn pacing_bytes_per_s(&self) -> u64 {
        self.pacing_bytes_per_s.load(Ordering::Relaxed)
    }

    /// Smoothed round trip time; 0: none yet.
    pub fn srtt_us(&self) -> u32 {
        self.srtt_us.load(Ordering::Relaxed)
    }

    /// Least round trip time of the last minutes; 0: none yet.
    pub fn min_rtt_us(&self) -> u32 {
        self.min_rtt_us.load(Ordering::Relaxed)
    }

    /// Ack-eliciting packets that have been acknowledged.
    pub fn delivered_packets(&self) -> u64 {
        self.delivered_packets.load(Ordering::Relaxed)
    }

    pub fn lost_packets(&self) -> u64 {
        self.lost_packets.load(Ordering::Relaxed)
    }

    pub(super) fn add_reductions(&self, reason: usize, count: u32) {
        if count > 0 {
            self.reductions[reason].fetch_add(count.into(), Ordering::Relaxed);
        }
    }

    pub(super) fn add_undone(&self) {
        self.undone.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn add_packets(&self, delivered: u32, lost: u32) {
        self.delivered_packets.fetch_add(delivered.into(), Ordering::Relaxed);
        self.lost_packets.fetch_add(lost.into(), Ordering::Relaxed);
    }

    pub(super) fn show_window(&self, window_bytes: u64, pacing_bytes_per_s: u64) {
        self.window_bytes.store(window_bytes, Ordering::Relaxed);
        self.pacing_bytes_per_s.store(pacing_bytes_per_s, Ordering::Relaxed);
    }

    pub(super) fn show_round_trip(&self, srtt_us: u32, min_rtt_us: u32) {
        self.srtt_us.store(srtt_us, Ordering::Relaxed);
        self.min_rtt_us.store(min_rtt_us, Ordering::Relaxed);
    }
}
