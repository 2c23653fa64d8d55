// SPDX-License-Identifier: Apache-2.0
//! A tunnel that has been idle goes back to what its path has carried (RFC 9959), in virtual time.

mod pair;

use std::time::Duration;

use pair::conduits::{carry, connected, pattern};
use pair::{Direction, Setup};

const LENGTH_BYTES: usize = 60_000_000;
const ROUND_TRIP_MS: u128 = 540;

/// How long a file takes on a new tunnel; and on the same, 5 s later and after a question that had an answer. And
/// how many datagrams a queue dropped of the latter.
fn times_ms(path_later: Option<Direction>, parameters: &[(&str, u32)], loss: f64) -> ([u128; 2], u64) {
    let (up, down) = (Direction::new(150, 270, loss), Direction::new(10, 270, loss / 6.0));
    let given = parameters.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    let (mut pair, near, far) =
        connected(Setup { up, down, law: Some(("boost", given)), ..Setup::default() });
    let (bytes, mut received) = (pattern(LENGTH_BYTES), Vec::new());
    let mut time = |pair: &mut pair::Pair, bytes: &[u8]| {
        let began = pair.now;
        carry(pair, near, far, bytes, &mut received);
        (pair.now - began).as_millis()
    };
    let first = time(&mut pair, &bytes);
    pair.pass(Duration::from_secs(5));
    if let Some(path) = path_later {
        pair.up = path;
    }
    time(&mut pair, &bytes[..1000]);
    pair.pass(Duration::from_millis(600));
    let dropped_before = pair.up.dropped;
    let later = time(&mut pair, &bytes);
    ([first, later], pair.up.dropped - dropped_before)
}

#[test]
fn it_fills_its_path_in_two_round_trips() {
    let ([first, later], _) = times_ms(None, &[("boost_loss", 2)], 0.0);
    let least = 1000 * 8 * LENGTH_BYTES as u128 / 150_000_000 + ROUND_TRIP_MS / 2;
    assert!(later < least + 2 * ROUND_TRIP_MS, "{later} ms of {least}, {first} at first");
    assert!(first > later + 4 * ROUND_TRIP_MS, "{later} ms of {least}, {first} at first");
}

/// A test of the losses was going on when the first file ended. The last packets take two round trips more.
#[test]
fn losses_are_no_hindrance() {
    let ([first, later], _) = times_ms(None, &[("boost_loss", 2)], 0.012);
    let least = 1000 * 8 * LENGTH_BYTES as u128 / 148_000_000 + ROUND_TRIP_MS / 2;
    assert!(later < least + 4 * ROUND_TRIP_MS, "{later} ms of {least}, {first} at first");
    assert!(first > later + 4 * ROUND_TRIP_MS, "{later} ms of {least}, {first} at first");
}

#[test]
fn it_begins_anew_where_that_is_not_wanted() {
    let ([first, later], _) = times_ms(None, &[("boost_loss", 2), ("boost_resume_s", 0)], 0.0);
    assert!(later + 2 * ROUND_TRIP_MS > first, "{later} ms, {first} at first");
}

#[test]
fn hardly_anything_is_dropped_where_the_path_carries_a_third_now() {
    let (_, dropped) = times_ms(Some(Direction::new(50, 270, 0.0)), &[("boost_loss", 2)], 0.0);
    assert!(dropped < LENGTH_BYTES as u64 / 1400 / 50, "{dropped}");
}
