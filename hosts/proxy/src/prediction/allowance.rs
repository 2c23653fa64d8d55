// SPDX-License-Identifier: Apache-2.0
//! How much may be sent twice.

/// One byte for so many that have been sent.
const SENT_PER_RESENT: u64 = 8;
/// Saved at most, and there from the beginning: the packets of a first window.
const CREDIT_MAX_BYTES: u64 = 24_000;

/// A token bucket: an eighth of what is sent, and 24 kB.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    /// In bytes sent.
    credit: u64,
}

impl Default for Allowance {
    fn default() -> Self {
        Self { credit: CREDIT_MAX_BYTES * SENT_PER_RESENT }
    }
}

impl Allowance {
    pub fn earn(&mut self, sent_bytes: u64) {
        self.credit = (self.credit + sent_bytes).min(CREDIT_MAX_BYTES * SENT_PER_RESENT);
    }

    pub fn covers(&self, bytes: u64) -> bool {
        bytes * SENT_PER_RESENT <= self.credit
    }

    pub fn spend(&mut self, bytes: u64) {
        self.credit = self.credit.saturating_sub(bytes * SENT_PER_RESENT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_eighth_of_what_is_sent_may_be_sent_again() {
        let mut allowance = Allowance::default();
        allowance.spend(CREDIT_MAX_BYTES);
        assert!(!allowance.covers(1));
        allowance.earn(7_999);
        assert!(allowance.covers(999) && !allowance.covers(1_000));
        allowance.earn(1);
        assert!(allowance.covers(1_000));
        allowance.earn(u64::from(u32::MAX));
        assert!(allowance.covers(CREDIT_MAX_BYTES) && !allowance.covers(CREDIT_MAX_BYTES + 1));
    }
}
