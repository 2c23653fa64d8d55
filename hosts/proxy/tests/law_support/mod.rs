// SPDX-License-Identifier: Apache-2.0
//! What tests of the laws share: random numbers that a seed determines, a link, and a channel that tests write.
#![allow(dead_code)] // each test program uses a part of it

pub mod channel;
pub mod dumbbell;
pub mod link;
pub mod random;
