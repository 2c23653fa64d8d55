// SPDX-License-Identifier: Apache-2.0
//! Has the window been used up lately? A window that was not must not grow (RFC 9002, 7.8). As
//! `tcp_cwnd_validate` and `tcp_is_cwnd_limited` of Linux have it.

#[derive(Clone, Debug, Default)]
pub struct WindowUsage {
    is_filled: bool,
    most_in_flight: u32,
    /// Sequence of the packet whose acknowledgement ends what is known.
    ends_at: u64,
}

impl WindowUsage {
    /// The flag that TCP keeps.
    pub fn is_filled(&self) -> bool {
        self.is_filled
    }

    /// While it doubles, half of the window is enough.
    pub fn limits(&self, cwnd: u32, ssthresh: u32) -> bool {
        self.is_filled || (cwnd < ssthresh && cwnd < self.most_in_flight.saturating_mul(2))
    }

    /// Something has been sent, or the window kept something from being sent.
    pub fn note(&mut self, is_filled: bool, in_flight: u32, oldest: u64, next: u64) {
        let is_more = !self.is_filled && in_flight > self.most_in_flight;
        if oldest >= self.ends_at || is_filled || is_more {
            self.is_filled = is_filled;
            self.most_in_flight = in_flight;
            self.ends_at = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filled_window_counts_until_what_was_sent_then_is_acknowledged() {
        let mut usage = WindowUsage::default();
        usage.note(true, 10, 0, 10);
        usage.note(false, 5, 5, 12);
        assert!(usage.is_filled());
        usage.note(false, 2, 10, 13);
        assert!(!usage.is_filled());
    }

    #[test]
    fn half_a_window_is_enough_in_slow_start() {
        let mut usage = WindowUsage::default();
        usage.note(false, 6, 0, 6);
        assert!(usage.limits(10, 20));
        assert!(!usage.limits(10, 10));
        assert!(!usage.limits(12, 20));
    }
}
