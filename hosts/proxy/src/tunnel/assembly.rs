// SPDX-License-Identifier: Apache-2.0
//! Puts the pieces of one direction in order.
//!
//! The library would do that, but of one stream it holds two thousand pieces at most and then gives the connection up
//! (noq 1.4; some 3 Mbyte, where a long path has ten times that in flight behind every loss). So its pieces are taken as
//! they come.

use std::collections::{BTreeMap, VecDeque};
use std::io::IoSlice;

use bytes::{Buf, Bytes};

/// A shorter piece does not keep the datagram that it came in.
const SHARED_BYTES: usize = 512;
/// Pieces shown at once.
const PIECES: usize = 64;

#[derive(Debug, Default)]
pub struct Assembly {
    /// In order, and not yet consumed.
    ready: VecDeque<Bytes>,
    /// Behind a gap, by offset; no two overlap.
    early: BTreeMap<u64, Bytes>,
    /// Offset behind what is ready.
    next: u64,
    consumed: u64,
    /// Offset behind the last byte seen.
    end: u64,
}

impl Assembly {
    /// Takes a piece that has not been inserted before.
    pub fn insert(&mut self, offset: u64, bytes: Bytes) {
        let bytes = if bytes.len() < SHARED_BYTES { Bytes::copy_from_slice(&bytes) } else { bytes };
        self.end = self.end.max(offset + bytes.len() as u64);
        if offset != self.next {
            self.early.insert(offset, bytes);
            return;
        }
        self.append(bytes);
        while let Some(entry) = self.early.first_entry()
            && *entry.key() == self.next
        {
            let bytes = entry.remove();
            self.append(bytes);
        }
    }

    /// Small pieces are joined: each by itself would take many times what it holds, which no limit counts.
    fn append(&mut self, bytes: Bytes) {
        self.next += bytes.len() as u64;
        match self.ready.back_mut() {
            Some(last) if last.len() + bytes.len() <= SHARED_BYTES => {
                *last = [&last[..], &bytes[..]].concat().into();
            }
            _ => self.ready.push_back(bytes),
        }
    }

    /// What can be consumed next; empty if nothing can.
    pub fn front(&self) -> Vec<IoSlice<'_>> {
        self.ready.iter().take(PIECES).map(|bytes| IoSlice::new(bytes)).collect()
    }

    pub fn consume(&mut self, mut bytes: usize) {
        while bytes > 0
            && let Some(first) = self.ready.front_mut()
        {
            let count = bytes.min(first.len());
            first.advance(count);
            if first.is_empty() {
                self.ready.pop_front();
            }
            bytes -= count;
            self.consumed += count as u64;
        }
    }

    /// Consumes `length` bytes in one piece, if so many are ready.
    pub fn take(&mut self, length: usize) -> Option<Vec<u8>> {
        if ((self.next - self.consumed) as usize) < length {
            return None;
        }
        let taken: Vec<u8> = self.ready.iter().flat_map(|bytes| bytes.iter()).take(length).copied().collect();
        self.consume(length);
        Some(taken)
    }

    /// Pieces behind a gap.
    pub fn early(&self) -> usize {
        self.early.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    pub fn consumed(&self) -> u64 {
        self.consumed
    }

    /// What would have been consumed if nothing were missing: all seen but what is ready and was left lying.
    pub fn claimed(&self) -> u64 {
        self.end - (self.next - self.consumed)
    }

    /// Offset behind the last byte seen.
    pub fn end(&self) -> u64 {
        self.end
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(assembly: &Assembly) -> Vec<u8> {
        assembly.front().iter().flat_map(|slice| slice.iter()).copied().collect()
    }

    #[test]
    fn a_gap_hides_what_is_behind_it() {
        let mut assembly = Assembly::default();
        assembly.insert(3, Bytes::from_static(b"def"));
        assert!(assembly.is_empty());
        assembly.insert(0, Bytes::from_static(b"abc"));
        assert_eq!(shown(&assembly), b"abcdef");
        assembly.consume(4);
        assert_eq!(shown(&assembly), b"ef");
        assert_eq!((assembly.consumed(), assembly.end()), (4, 6));
        assert_eq!(assembly.take(3), None);
        assert_eq!(assembly.take(2), Some(b"ef".to_vec()));
    }

    #[test]
    fn small_pieces_take_little_more_than_they_hold() {
        let bytes: Vec<u8> = (0..100_000u32).map(|at| (at * 7 % 251) as u8).collect();
        let mut assembly = Assembly::default();
        for (at, byte) in bytes.iter().enumerate() {
            assembly.insert(at as u64, Bytes::copy_from_slice(&[*byte]));
        }
        assert!(assembly.ready.len() <= 2 * bytes.len() / SHARED_BYTES + 1, "{}", assembly.ready.len());
        assert_eq!(assembly.take(bytes.len()), Some(bytes));
    }

    proptest! {
        #[test]
        fn any_order_gives_the_same_bytes(
            cuts in prop::collection::btree_set(1..4000usize, 1..40), order in any::<u64>()
        ) {
            let bytes: Vec<u8> = (0..4000u32).map(|at| (at * 7 % 251) as u8).collect();
            let edges: Vec<usize> = [0].into_iter().chain(cuts).chain([4000]).collect();
            let mut pieces: Vec<(usize, usize)> = edges.windows(2).map(|pair| (pair[0], pair[1])).collect();
            pieces.sort_by_key(|(from, _)| (*from as u64 + 1).wrapping_mul(order | 1));
            let mut assembly = Assembly::default();
            for (from, to) in pieces {
                assembly.insert(from as u64, Bytes::copy_from_slice(&bytes[from..to]));
            }
            let mut out = Vec::new();
            while !assembly.is_empty() {
                let shown = shown(&assembly);
                let count = shown.len().min(777);
                out.extend_from_slice(&shown[..count]);
                assembly.consume(count);
            }
            prop_assert!(out == bytes);
        }
    }
}
