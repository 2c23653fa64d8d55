// SPDX-License-Identifier: Apache-2.0
//! A client's way to its server: when to try, and when again.

use std::time::{Duration, Instant};

use crate::tunnel::TunnelId;

const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(15);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Down { retry_at: Instant },
    Connecting { tunnel: TunnelId, until: Instant },
    Up(TunnelId),
}

#[derive(Debug)]
pub struct Link {
    pub state: State,
    wait: Duration,
    /// The first tunnel has not been up yet: its failure ends the program.
    pub is_first: bool,
}

impl Link {
    pub fn new(now: Instant) -> Self {
        Self { state: State::Down { retry_at: now }, wait: FIRST_WAIT, is_first: true }
    }

    pub fn tunnel(&self) -> Option<TunnelId> {
        match self.state {
            State::Down { .. } => None,
            State::Connecting { tunnel, .. } | State::Up(tunnel) => Some(tunnel),
        }
    }

    pub fn is_due(&self, now: Instant) -> bool {
        matches!(self.state, State::Down { retry_at } if retry_at <= now)
    }

    pub fn on_up(&mut self, tunnel: TunnelId) {
        self.state = State::Up(tunnel);
        self.wait = FIRST_WAIT;
        self.is_first = false;
    }

    /// The tunnel is lost, or could not be made.
    pub fn on_down(&mut self, now: Instant) {
        self.state = State::Down { retry_at: now + self.wait };
        self.wait = (self.wait * 2).min(LONGEST_WAIT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_longer_each_time_and_begins_anew_after_success() {
        let now = Instant::now();
        let mut link = Link::new(now);
        assert!(link.is_due(now));
        link.on_down(now);
        assert!(!link.is_due(now + FIRST_WAIT / 2));
        assert!(link.is_due(now + FIRST_WAIT));
        for _ in 0..20 {
            link.on_down(now);
        }
        assert!(!link.is_due(now + LONGEST_WAIT / 2));
        assert!(link.is_due(now + LONGEST_WAIT));
        link.on_up(TunnelId(0));
        link.on_down(now);
        assert!(link.is_due(now + FIRST_WAIT));
    }
}
