// SPDX-License-Identifier: Apache-2.0
//! xorshift64*, so that a run can be repeated.

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, below: u64) -> u64 {
        (self.next() >> 33) % below
    }

    /// True once in a while, so often that `parts_per_million` of all answers are.
    pub fn happens(&mut self, parts_per_million: u64) -> bool {
        self.below(1_000_000) < parts_per_million
    }
}
