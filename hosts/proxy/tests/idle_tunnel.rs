// SPDX-License-Identifier: Apache-2.0
//! A tunnel that has been idle goes back to what its path has carried (RFC 9959), in virtual time.

mod pair;

use std::time::Duration;

use pair::conduits::{carry, connected, pattern};
use pair::{Direction, Setup};

const LENGTH_BYTES: usize = 60_000_000;
const ROUND_TRIP_MS: u128 = 540;

/// How long a file takes on a new tunnel; and on the same, 5 s later and after a question that had an answer.
fn times_ms(path_later: Option<Direction>, parameters: &[(&str, u32)], loss: f64) -> [u128; 2] {
    let (up, down) = (Direction::new(150, 270, loss), Direction::new(10, 270, loss / 6.0));
    let given = parameters.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    let (mut pair, near, far) = connected(Setup { up, down, law: Some(("boost", given)), ..Setup::default() });
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
    let later = time(&mut pair, &bytes);
    assert_eq!(pair.up.dropped, 0);
    [first, later]
}

#[test]
fn it_fills_its_path_in_two_round_trips() {
    let [first, later] = times_ms(None, &[("boost_loss", 2)], 0.0);
    let least = 1000 * 8 * LENGTH_BYTES as u128 / 150_000_000 + ROUND_TRIP_MS / 2;
    assert!(later < least + 2 * ROUND_TRIP_MS, "{later} ms of {least}, {first} at first");
    assert!(first > later + 4 * ROUND_TRIP_MS, "{later} ms of {least}, {first} at first");
}

#[test]
fn it_begins_anew_where_that_is_not_wanted() {
    let [first, later] = times_ms(None, &[("boost_loss", 2), ("boost_resume_s", 0)], 0.0);
    assert!(later + 2 * ROUND_TRIP_MS > first, "{later} ms, {first} at first");
}

#[test]
fn it_drops_nothing_on_a_path_that_carries_a_third_now() {
    times_ms(Some(Direction::new(50, 270, 0.0)), &[("boost_loss", 2)], 0.0);
}

/// Beside docs/results/proxy.md: what the start of a transfer costs.
#[test]
#[ignore = "measures, and checks nothing"]
fn table_of_times() {
    for loss in [0.0, 0.012] {
        for resume_s in [0, 3600] {
            println!("{loss} {resume_s}: {:?}", times_ms(None, &[("boost_loss", 2), ("boost_resume_s", resume_s)], loss));
        }
    }
}
