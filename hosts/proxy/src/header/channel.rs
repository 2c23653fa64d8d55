// SPDX-License-Identifier: Apache-2.0
//! Between a law and the headers of the packets that it sends.

use std::fmt::Debug;

use clarion_layout::FlowRequest;

/// What the headers of one path say to a law, and what the law asks of them.
pub trait Channel: Debug + Send + Sync {
    /// What the peer has echoed last; `None` while packets go without header.
    fn echo(&self) -> Option<Echo>;

    /// What the packets sent from now on ask for.
    fn request(&self, request: Request);

    /// An ack-eliciting QUIC packet has been written, into the datagram that is sent next.
    fn note_eliciting(&self);
}

/// `struct flow_echo` of hosts/bpf/flow.h, and what this host's own queues dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Echo {
    /// Running total of granted feedback, bytes/s, modulo 2^32.
    pub reverse_feedback: u32,
    /// Path totals modulo 2^16: losses on wires, drops by queues.
    pub rev_corrupt: u16,
    pub rev_congest: u16,
    /// Headers with an echo so far; 0: the others mean nothing yet.
    pub nr_echoes: u32,
    pub regulated: bool,
    /// The hop that limits this end, 0: unknown.
    pub field: u8,
    /// `rev_corrupt` and `rev_congest` unwrapped to 32 bits (`struct flow_stats`).
    pub corrupt: u32,
    pub congest: u32,
    /// Packets of this flow that queues of this host dropped.
    pub local_drops: u32,
    /// Loss causes are echoed and wanted.
    pub tags: bool,
}

/// `struct flow_request` of hosts/bpf/flow.h.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The law wants rate feedback: packets carry DATA headers, not TAG.
    pub wanted: bool,
    pub field: u8,
    pub ect1: bool,
    /// Q4.28 s.
    pub rtt: u32,
    pub x: u32,
    /// Bytes/s asked for by a packet of `full_len` bytes.
    pub delta_throughput: i32,
    /// Frame bytes of a full-sized packet, header included.
    pub full_len: u32,
}

impl From<Request> for FlowRequest {
    fn from(request: Request) -> Self {
        Self {
            wanted: request.wanted.into(),
            field: request.field,
            ect1: request.ect1.into(),
            pad: 0,
            rtt: request.rtt,
            x: request.x,
            delta_throughput: request.delta_throughput,
            full_len: request.full_len,
        }
    }
}

/// A path without headers.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHeader;

impl Channel for NoHeader {
    fn echo(&self) -> Option<Echo> {
        None
    }

    fn request(&self, _request: Request) {}

    fn note_eliciting(&self) {}
}
