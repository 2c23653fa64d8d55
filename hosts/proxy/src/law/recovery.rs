// SPDX-License-Identifier: Apache-2.0
//! The states of loss recovery in the laws' words (TCP_CA_* of Linux) by the rules of QUIC: recovery begins with a
//! loss or a mark and ends when a packet that was sent after its beginning is acknowledged (RFC 9002, 7.3.2);
//! persistent congestion (7.6) is what a timeout is to TCP.
//!
//! TCP's recovery lasts a round trip longer: until what was lost has been sent again and acknowledged. Laws that set
//! the window themselves count on that. BBR sends no more than is acknowledged in the first round trip of a recovery;
//! where each round trip has its loss, a recovery of only one would never let it go faster.

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
    /// The acknowledgement of a packet from this sequence on ends the round trip.
    round_ends_at: u64,
    rounds_left: u8,
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

    /// `rounds`: round trips that it lasts. `next`: sequence of the next packet. `undo_ssthresh`: of a reduction that
    /// may be taken back.
    pub fn enter(&mut self, state: CaState, rounds: u8, next: u64, undo_ssthresh: Option<u32>) {
        self.state = state;
        self.began_at = next;
        self.round_ends_at = next;
        self.rounds_left = rounds;
        self.undo_ssthresh = undo_ssthresh;
    }

    /// A packet has been acknowledged. True: that ends the recovery.
    pub fn ends_with(&mut self, sequence: u64, next: u64) -> bool {
        if self.state == CaState::Open || sequence < self.round_ends_at {
            return false;
        }
        self.rounds_left = self.rounds_left.saturating_sub(1);
        self.round_ends_at = next;
        self.rounds_left == 0
    }

    pub fn leave(&mut self) {
        self.state = CaState::Open;
    }

    /// ssthresh from before the reduction, once.
    pub fn take_undo(&mut self) -> Option<u32> {
        self.undo_ssthresh.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recovery_ends_with_a_packet_that_was_sent_after_it_began() {
        let mut recovery = Recovery::default();
        recovery.enter(CaState::Recovery, 1, 10, None);
        assert!(!recovery.ends_with(9, 20));
        assert!(recovery.is_reducing());
        assert!(recovery.ends_with(10, 20));
    }

    #[test]
    fn a_second_round_begins_where_the_first_ends() {
        let mut recovery = Recovery::default();
        recovery.enter(CaState::Recovery, 2, 10, None);
        assert!(!recovery.ends_with(10, 20));
        assert!(!recovery.ends_with(19, 30));
        assert!(recovery.ends_with(20, 30));
        recovery.leave();
        assert!(!recovery.ends_with(40, 50), "there is none that could end");
    }

    #[test]
    fn a_reduction_is_taken_back_once() {
        let mut recovery = Recovery::default();
        recovery.enter(CaState::Recovery, 1, 10, Some(7));
        assert_eq!((recovery.take_undo(), recovery.take_undo()), (Some(7), None));
    }
}
