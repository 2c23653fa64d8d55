// SPDX-License-Identifier: Apache-2.0
//! How probable it is that a packet is lost which has not been acknowledged so long after it was sent.
//!
//! By Bayes' rule P(lost | unacknowledged at age a) = p / (p + (1 - p) S(a)), where p is the share of packets that
//! get lost and S(a) the share of the others whose acknowledgement takes longer than a, the peer's delay of ACKs
//! included.
//!
//! S is counted: how long acknowledgements took, in proportion to the smoothed round trip before them, so that a path
//! which gets slower does not look like one that loses. p and S begin as if something had been seen already: one loss
//! of 100 packets, and one round trip with an exponential tail.

use std::time::Duration;

/// Between one and two smoothed round trips. What is sooner is in the first, what is later has another.
const BINS: usize = 256;
/// Packets after which what has been counted counts half.
const MEMORY: u32 = 4096;
/// Of a round trip: the mean excess of the one that is taken for seen.
const PRIOR_EXCESS: f64 = 1.0 / 32.0;
const PRIOR_LOSSES: f64 = 1.0;
const PRIOR_PACKETS: f64 = 100.0;
/// Of the newest round trip in the smoothed one (RFC 6298, 2).
const GAIN: f64 = 1.0 / 8.0;

#[derive(Clone, Debug)]
pub struct Estimate {
    /// Acknowledged packets by how long that took.
    ages: [u32; BINS + 1],
    acked: u32,
    /// Of `packets`, acknowledged or lost.
    losses: u32,
    packets: u32,
    smoothed_s: Option<f64>,
    /// Of the path so far.
    least: Option<Duration>,
    /// The newest packet's, of the ACK frame at hand.
    newest: Option<Duration>,
}

impl Default for Estimate {
    fn default() -> Self {
        Self {
            ages: [0; BINS + 1],
            acked: 0,
            losses: 0,
            packets: 0,
            smoothed_s: None,
            least: None,
            newest: None,
        }
    }
}

impl Estimate {
    /// A packet has been acknowledged, so long after it was sent.
    pub fn note_acked(&mut self, age: Duration) {
        self.least = Some(self.least.map_or(age, |least| least.min(age)));
        self.newest = Some(self.newest.map_or(age, |newest| newest.min(age)));
        if let Some(smoothed_s) = self.smoothed_s {
            self.ages[bin(age.as_secs_f64() / smoothed_s)] += 1;
            self.acked += 1;
        }
        self.packets += 1;
        self.forget();
    }

    /// All packets of an ACK frame are known.
    pub fn end_acks(&mut self) {
        let Some(newest) = self.newest.take() else { return };
        let newest_s = newest.as_secs_f64().max(1e-6);
        self.smoothed_s =
            Some(self.smoothed_s.map_or(newest_s, |smoothed_s| smoothed_s + GAIN * (newest_s - smoothed_s)));
    }

    pub fn note_lost(&mut self) {
        self.losses += 1;
        self.packets += 1;
        self.forget();
    }

    fn forget(&mut self) {
        if self.acked >= MEMORY {
            self.ages.iter_mut().for_each(|count| *count /= 2);
            self.acked = self.ages.iter().sum();
        }
        if self.packets >= MEMORY {
            self.losses /= 2;
            self.packets /= 2;
        }
    }

    /// The shortest time after which a packet of this path was acknowledged.
    pub fn least(&self) -> Option<Duration> {
        self.least
    }

    fn loss_rate(&self) -> f64 {
        (f64::from(self.losses) + PRIOR_LOSSES) / (f64::from(self.packets) + PRIOR_PACKETS)
    }

    /// The age at which the probability reaches a threshold in (0, 1): zero if the path loses so many that it always
    /// has, `None` if it never does or no round trip is known. With ages in round trips, S does not change within
    /// a bin: the age is the end of one.
    pub fn due_after(&self, threshold: f64) -> Option<Duration> {
        let smoothed_s = self.smoothed_s?;
        let p = self.loss_rate();
        let survival_max = p * (1.0 - threshold) / (threshold * (1.0 - p));
        if survival_max >= 1.0 {
            return Some(Duration::ZERO);
        }
        let mut later = self.acked;
        for (bin, &count) in self.ages[..BINS].iter().enumerate() {
            later -= count;
            let excess = (bin + 1) as f64 / BINS as f64;
            let survival =
                (f64::from(later) + (-excess / PRIOR_EXCESS).exp()) / (f64::from(self.acked) + 1.0);
            if survival <= survival_max {
                return Some(Duration::from_secs_f64(smoothed_s * (1.0 + excess)));
            }
        }
        None
    }
}

/// Of an age in smoothed round trips.
fn bin(age: f64) -> usize {
    (((age - 1.0) * BINS as f64).max(0.0) as usize).min(BINS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(256); // so that a bin is a millisecond

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    /// A path of which a round trip is known, and nothing else.
    fn known() -> Estimate {
        let mut estimate = Estimate::default();
        estimate.note_acked(RTT);
        estimate.end_acks();
        estimate
    }

    fn acked(estimate: &mut Estimate, ages: &[Duration]) {
        for &age in ages {
            estimate.note_acked(age);
        }
    }

    fn due(estimate: &Estimate, threshold: f64) -> Option<u64> {
        estimate.due_after(threshold).map(|age| age.as_micros() as u64)
    }

    #[test]
    fn without_a_round_trip_nothing_is_due() {
        assert_eq!(Estimate::default().due_after(0.5), None);
        assert_eq!(known().least(), Some(RTT));
    }

    /// p = 1/101. Half: S <= 0.01, exp(-32 x) at x = 0.144, of 256 bins the 37th. Nine tenths: S <= 0.00111, x = 0.213.
    #[test]
    fn at_first_there_is_the_tail_that_is_presumed() {
        assert_eq!(due(&known(), 0.5), Some(256_000 + 37_000));
        assert_eq!(due(&known(), 0.9), Some(256_000 + 55_000));
    }

    /// Of 199 acknowledged in time and one 100 ms late, S is more than 1 / 201 before 100 ms and less after it.
    /// p = 1/301: half needs S <= 0.0033, which the late one forbids until it has come.
    #[test]
    fn what_has_come_late_is_waited_for() {
        let mut estimate = known();
        acked(&mut estimate, &[RTT; 199]);
        assert_eq!(due(&estimate, 0.5), Some(256_000 + 4_000)); // exp(-32 x) <= 201 / 300
        acked(&mut estimate, &[RTT + ms(100)]);
        assert_eq!(due(&estimate, 0.5), Some(256_000 + 101_000));
        assert_eq!(due(&estimate, 0.1), Some(256_000 + 1_000)); // S <= 0.03
    }

    /// Two of three lost, p = (200 + 1) / (301 + 100) > 0.5: they always are, so probably.
    #[test]
    fn a_threshold_below_the_rate_of_losses_is_always_reached() {
        let mut estimate = known();
        acked(&mut estimate, &[RTT; 100]);
        (0..200).for_each(|_| estimate.note_lost());
        assert_eq!(due(&estimate, 0.5), Some(0));
        assert!(due(&estimate, 0.9).is_some_and(|at_us| at_us > 256_000));
    }

    #[test]
    fn losses_make_it_sooner() {
        let mut estimate = known();
        acked(&mut estimate, &[RTT; 20]);
        let before = due(&estimate, 0.9);
        (0..5).for_each(|_| estimate.note_lost());
        assert!(due(&estimate, 0.9) < before);
    }

    #[test]
    fn acknowledgements_that_always_come_late_make_nothing_due() {
        let mut estimate = known();
        acked(&mut estimate, &[3 * RTT; 100]);
        assert_eq!(due(&estimate, 0.5), None);
    }

    #[test]
    fn what_was_long_ago_is_forgotten() {
        let mut estimate = known();
        acked(&mut estimate, &[RTT + ms(200); 40]);
        assert_eq!(due(&estimate, 0.9), Some(256_000 + 201_000));
        acked(&mut estimate, &[RTT; 20 * MEMORY as usize]);
        assert!(due(&estimate, 0.5).is_some_and(|at_us| at_us < 256_000 + 200_000));
        assert!(estimate.acked < MEMORY && estimate.packets < MEMORY);
    }

    /// Ages are seen against the smoothed round trip before them.
    #[test]
    fn a_path_that_gets_slower_moves_the_age_along() {
        let mut estimate = known();
        for _ in 0..2000 {
            estimate.note_acked(2 * RTT);
            estimate.end_acks();
        }
        (0..20).for_each(|_| estimate.note_lost()); // so that some may take longer: the first of 512 ms did
        assert!(due(&estimate, 0.5).is_some_and(|at_us| at_us > 512_000));
        assert_eq!(estimate.least(), Some(RTT));
    }
}
