// SPDX-License-Identifier: Apache-2.0
//! The states of loss recovery in the laws' words (TCP_CA_* of Linux) by the rules of QUIC: recovery begins with a
//! loss or a mark and ends when a packet that was sent after its beginning is acknowledged (RFC 9002, 7.3.2);
//! persistent congestion (7.6) is what a timeout is to TCP.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum CaState {
    #[default]
    Open = 0,
    /// A mark is being answered.
    Cwr = 2,
    Recovery = 3,
    /// Persistent congestion.
    Loss = 4,
}

#[derive(Clone, Debug, Default)]
pub struct Recovery {
    state: CaState,
    /// Packets from this sequence on were sent after the last reduction.
    began_at: u64,
    /// ssthresh before the last reduction, for as long as that may be taken back.
    undo_ssthresh: Option<u32>,
}

impl Recovery {
    pub fn state(&self) -> CaState {
        self.state
    }

    /// Does the transport itself reduce the window, so that a law must not grow it?
    pub fn is_reducing(&self) -> bool {
        matches!(self.state, CaState::Cwr | CaState::Recovery)
    }

    /// Was it sent after the last reduction?
    pub fn is_after(&self, sequence: u64) -> bool {
        sequence >= self.began_at
    }

    pub fn began_at(&self) -> u64 {
        self.began_at
    }

    /// `next`: sequence of the next packet. `undo_ssthresh`: of a reduction that may be taken back.
    pub fn enter(&mut self, state: CaState, next: u64, undo_ssthresh: Option<u32>) {
        self.state = state;
        self.began_at = next;
        self.undo_ssthresh = undo_ssthresh;
    }

    pub fn leave(&mut self) {
        self.state = CaState::Open;
    }

    /// ssthresh from before the reduction, once.
    pub fn take_undo(&mut self) -> Option<u32> {
        self.undo_ssthresh.take()
    }
}
