// SPDX-License-Identifier: Apache-2.0
//! Smoothed and least round trip time. noq's own estimate is updated after the controller has seen the ACK, and
//! does not say whether there has been a sample yet.

/// Time over which the minimum is kept (`net.ipv4.tcp_min_rtt_wlen` of Linux), halved.
const HALF_WINDOW_US: u64 = 150_000_000;

#[derive(Clone, Debug, Default)]
pub struct RoundTrip {
    /// Times 8.
    srtt_us8: u64,
    /// Of this half of the window and of the one before; 0: none.
    min_us: [u32; 2],
    half_began_us: u64,
}

impl RoundTrip {
    /// 0: no sample yet.
    pub fn srtt_us(&self) -> u32 {
        u32::try_from(self.srtt_us8 >> 3).unwrap_or(u32::MAX)
    }

    /// 0: no sample yet.
    pub fn min_us(&self) -> u32 {
        match self.min_us {
            [this, 0] => this,
            [0, before] => before,
            [this, before] => this.min(before),
        }
    }

    /// RFC 6298 with the weights of Linux.
    pub fn sample(&mut self, now_us: u64, rtt_us: u32) {
        let rtt_us = rtt_us.max(1);
        self.srtt_us8 = match self.srtt_us8 {
            0 => u64::from(rtt_us) << 3,
            srtt_us8 => srtt_us8 - (srtt_us8 >> 3) + u64::from(rtt_us),
        };
        if now_us.saturating_sub(self.half_began_us) > HALF_WINDOW_US {
            self.min_us = [0, self.min_us[0]];
            self.half_began_us = now_us;
        }
        if self.min_us[0] == 0 || rtt_us < self.min_us[0] {
            self.min_us[0] = rtt_us;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sample_is_the_estimate_and_later_ones_count_an_eighth() {
        let mut rtt = RoundTrip::default();
        assert_eq!((rtt.srtt_us(), rtt.min_us()), (0, 0));
        rtt.sample(1, 80_000);
        rtt.sample(2, 160_000);
        assert_eq!((rtt.srtt_us(), rtt.min_us()), (90_000, 80_000));
    }

    #[test]
    fn an_old_minimum_is_forgotten() {
        let mut rtt = RoundTrip::default();
        rtt.sample(1, 10_000);
        for half in 1..=2 {
            rtt.sample(half * (HALF_WINDOW_US + 1) + 1, 20_000);
        }
        assert_eq!(rtt.min_us(), 20_000);
    }
}
