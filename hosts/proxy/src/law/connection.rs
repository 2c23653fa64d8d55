// SPDX-License-Identifier: Apache-2.0
//! A law and the connection that it runs: what it sees of it, and what it changes.

use crate::header::Echo;

use super::ffi::{Connection, INFINITE_SSTHRESH, Law, LawEcho, NO_RATE, NO_RTT};
use super::recovery::{CaState, Recovery};
use super::transport::Transport;

/// Ethernet, UDP and the DATA header in a frame, without the IP header.
const FRAME_BYTES: u32 = 14 + 8 + 32;

/// What a law controls.
#[derive(Clone, Copy, Debug)]
pub struct Control {
    /// Packets.
    pub cwnd: u32,
    /// Packets.
    pub ssthresh: u32,
    pub cwnd_count: u32,
    /// Of datagrams; `NO_RATE`: none yet.
    pub pacing_bytes_per_s: u64,
}

/// A law at work.
#[derive(Debug)]
pub struct Host {
    pub law: Law,
    pub transport: Transport,
    pub recovery: Recovery,
    pub control: Control,
    /// Packets that the window never exceeds.
    pub cwnd_clamp: u32,
    pub ip_header_bytes: u32,
    is_started: bool,
}

impl Host {
    pub fn new(law: Law, transport: Transport, cwnd: u32, cwnd_clamp: u32, ip_header_bytes: u32) -> Self {
        let control = Control {
            cwnd: cwnd.min(cwnd_clamp),
            ssthresh: INFINITE_SSTHRESH,
            cwnd_count: 0,
            pacing_bytes_per_s: NO_RATE,
        };
        Self {
            law,
            transport,
            recovery: Recovery::default(),
            control,
            cwnd_clamp,
            ip_header_bytes,
            is_started: false,
        }
    }

    /// Starts the law, unless it has been. TCP starts one when the handshake has measured a round trip, and laws of
    /// the second form count on that; here it is the first acknowledgement that measures one. Before it the initial
    /// window goes.
    pub fn start(&mut self) {
        if !self.is_started {
            self.is_started = true;
            self.change(|law, connection| law.start(connection));
        }
    }

    pub fn is_started(&self) -> bool {
        self.is_started
    }

    /// The same law in the same state on a new path. `None`: no memory.
    pub fn duplicate(&self) -> Option<Self> {
        Some(Self {
            law: self.law.duplicate()?,
            transport: self.transport.without_packets(),
            recovery: self.recovery.clone(),
            control: self.control,
            cwnd_clamp: self.cwnd_clamp,
            ip_header_bytes: self.ip_header_bytes,
            is_started: self.is_started,
        })
    }

    /// Bytes that may be in flight: never less than two datagrams (RFC 9002, 7.2).
    pub fn window_bytes(&self) -> u64 {
        u64::from(self.control.cwnd.max(2)) * u64::from(self.transport.mtu_bytes)
    }

    /// Hands on what the peer has echoed.
    pub fn hear(&mut self, echo: Option<Echo>) {
        self.law.hear(&echo.map_or_else(LawEcho::default, law_echo));
    }

    /// What the law sees.
    pub fn connection(&self) -> Connection {
        let transport = &self.transport;
        let sent = &transport.sent;
        let mss_bytes = u32::from(transport.mtu_bytes);
        let min_rtt_us = transport.round_trip.min_us();
        let state = self.recovery.state();
        let Control { cwnd, ssthresh, cwnd_count, pacing_bytes_per_s } = self.control;
        Connection {
            pacing_bytes_per_s,
            cwnd,
            ssthresh,
            cwnd_count,
            counts_as_limited: 0,
            now_us: transport.now_us,
            last_sent_us: transport.last_sent_us,
            delivered_us: transport.rate.delivered_us(),
            cwnd_clamp: self.cwnd_clamp,
            mss_bytes,
            full_len_bytes: FRAME_BYTES + self.ip_header_bytes + mss_bytes,
            srtt_us: transport.round_trip.srtt_us(),
            min_rtt_us: if min_rtt_us == 0 { NO_RTT } else { min_rtt_us },
            una: sent.oldest() as u32,
            next: sent.next() as u32,
            delivered: transport.rate.delivered(),
            delivered_ce: transport.marked,
            lost: transport.lost,
            in_flight: sent.in_flight(),
            outstanding: sent.in_flight() + transport.newly_lost,
            ca_state: state as u8,
            is_open: (state == CaState::Open && !transport.has_gap()).into(),
            in_recovery: self.recovery.is_reducing().into(),
            is_cwnd_limited: transport.usage.limits(cwnd, ssthresh).into(),
            has_filled_window: transport.usage.is_filled().into(),
            is_app_limited: transport.rate.is_app_limited().into(),
            saw_reordering: transport.saw_reordering.into(),
            pad: 0,
        }
    }

    /// Calls the law, and takes over what it changes.
    pub fn change(&mut self, call: impl FnOnce(&mut Law, &mut Connection)) {
        let mut connection = self.connection();
        call(&mut self.law, &mut connection);
        self.control = Control {
            cwnd: connection.cwnd,
            ssthresh: connection.ssthresh,
            cwnd_count: connection.cwnd_count,
            pacing_bytes_per_s: connection.pacing_bytes_per_s,
        };
        if connection.counts_as_limited != 0 {
            self.transport.rate.mark_app_limited(self.transport.sent.in_flight());
        }
    }

    /// Asks the law for a window.
    pub fn ask(&mut self, call: impl FnOnce(&mut Law, &mut Connection) -> u32) -> u32 {
        let mut connection = self.connection();
        call(&mut self.law, &mut connection)
    }
}

fn law_echo(echo: Echo) -> LawEcho {
    LawEcho {
        reverse_feedback: echo.reverse_feedback,
        nr_echoes: echo.nr_echoes,
        corrupt: echo.corrupt,
        congest: echo.congest,
        local_drops: echo.local_drops,
        rev_corrupt: echo.rev_corrupt,
        rev_congest: echo.rev_congest,
        regulated: echo.regulated.into(),
        field: echo.field,
        tags: echo.tags.into(),
        is_aware: 1,
    }
}
