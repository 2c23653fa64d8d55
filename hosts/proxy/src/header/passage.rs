// SPDX-License-Identifier: Apache-2.0
//! Do headers get through? When the datagrams of a path carry them, and when they go plain. No I/O and no clock:
//! time is passed in.
//!
//! A host without the shim drops what comes with a header, and so may anything on the path. UDP has no handshake in
//! which the shims could agree, so the ends find out: one datagram goes with a header, the probe. The peer's echo
//! opens the path. Without one in time the path stays plain, and the next probe waits twice as long. The same happens
//! if echoes cease on an open path.
//!
//! An end that only receives never gets an echo: its acknowledgements carry no totals. It answers headers with
//! headers, at most one for each that came, and stops with the first batch of datagrams that brought none. So the
//! peer's decision to go plain holds for both directions.

use std::time::{Duration, Instant};

/// Probes that fail before a path stays plain.
const PROBES_MAX: u32 = 8;
/// Wait after the first failed probe; doubles.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// An echo is waited for at least so long, and for three round trips.
const PATIENCE_MIN: Duration = Duration::from_secs(1);
/// The same while the round trip time is not known.
const PATIENCE_UNKNOWN: Duration = Duration::from_secs(3);
/// Datagrams that an open path leaves without echo before its patience counts.
const UNANSWERED_MIN: u32 = 3;
/// Probe timeouts of QUIC in a row that close an open path at once.
const TIMEOUTS_MAX: u32 = 2;
/// Echoes that prove an open path: earlier failures are forgotten.
const ECHOES_PROVEN: u32 = 64;
/// Most headers that one batch received lets out as answers.
const ANSWERS_MAX: u32 = 16;

/// What a datagram carries: `enum flow_carries` of hosts/bpf/flow.h.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Carries {
    #[default]
    Nothing = 0,
    /// An echo of what was received: for datagrams that the peer does not acknowledge.
    Echo = 1,
    /// DATA or TAG, with an echo in it: for datagrams that it does.
    Request = 2,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The connection is not established: nothing carries a header yet.
    Waiting,
    /// Datagrams go plain until the next probe.
    Plain,
    /// Plain but for the probe, whose echo is awaited.
    Probing,
    /// Datagrams carry headers.
    Open,
    /// Plain for good: too many probes have failed. Only a header of the peer changes that.
    Closed,
}

impl Mode {
    pub fn name(self) -> &'static str {
        match self {
            Mode::Waiting => "waiting",
            Mode::Plain => "plain",
            Mode::Probing => "probing",
            Mode::Open => "open",
            Mode::Closed => "closed",
        }
    }
}

/// Running numbers of the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// Headers received with an echo, modulo 2^32.
    pub nr_echoes: u32,
    /// Headers received.
    pub rx_headers: u64,
}

#[derive(Debug)]
pub struct Passage {
    mode: Mode,
    /// When the mode began; on an open path, when the first datagram without echo so far was sent.
    since: Option<Instant>,
    /// Something was received since then.
    is_alive: bool,
    retry_at: Option<Instant>,
    failures: u32,
    /// On an open path, since the last echo: datagrams that ask for one, and timeouts.
    unanswered: u32,
    timeouts: u32,
    /// Since it opened.
    echoes: u32,
    /// Headers that the last batch lets out.
    answers: u32,
    last: Heard,
    srtt: Option<Duration>,
}

impl Default for Passage {
    fn default() -> Self {
        Self {
            mode: Mode::Waiting,
            since: None,
            is_alive: false,
            retry_at: None,
            failures: 0,
            unanswered: 0,
            timeouts: 0,
            echoes: 0,
            answers: 0,
            last: Heard::default(),
            srtt: None,
        }
    }
}

impl Passage {
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The connection is established: a lost probe no longer delays the handshake.
    pub fn on_established(&mut self, now: Instant) {
        if self.mode == Mode::Waiting {
            self.enter(Mode::Plain, now);
            self.is_alive = true;
        }
    }

    /// The smoothed round trip time has changed.
    pub fn on_rtt(&mut self, srtt: Duration) {
        self.srtt = Some(srtt);
    }

    /// What the next datagram carries. To be called once for each; `is_eliciting`: the peer will acknowledge it.
    pub fn on_send(&mut self, now: Instant, is_eliciting: bool) -> Carries {
        self.on_time(now);
        match self.mode {
            Mode::Waiting => Carries::Nothing,
            Mode::Open if is_eliciting => {
                if self.unanswered == 0 {
                    self.since = Some(now);
                    self.is_alive = false;
                }
                self.unanswered += 1;
                Carries::Request
            }
            Mode::Plain if is_eliciting && self.may_probe(now) => {
                self.enter(Mode::Probing, now);
                Carries::Request
            }
            _ => self.answer(now, is_eliciting),
        }
    }

    /// A batch of datagrams was received; `heard` are the numbers after it.
    pub fn on_receive(&mut self, now: Instant, heard: Heard) {
        let headers = heard.rx_headers.wrapping_sub(self.last.rx_headers);
        let echoes = heard.nr_echoes.wrapping_sub(self.last.nr_echoes);
        self.last = heard;
        self.is_alive = true;
        self.answers = headers.min(ANSWERS_MAX.into()) as u32;
        if echoes == 0 {
            return;
        }
        match self.mode {
            Mode::Probing => {
                self.enter(Mode::Open, now);
                self.on_echoes(echoes);
            }
            Mode::Open => self.on_echoes(echoes),
            _ => {} // of headers sent before the path went plain
        }
    }

    /// A probe timeout of QUIC: nothing is acknowledged.
    pub fn on_timeout(&mut self, now: Instant) {
        if self.mode != Mode::Open || self.unanswered == 0 {
            return;
        }
        self.timeouts += 1;
        if self.timeouts >= TIMEOUTS_MAX {
            self.fail(now);
        }
    }

    fn on_echoes(&mut self, echoes: u32) {
        self.unanswered = 0;
        self.timeouts = 0;
        self.echoes = self.echoes.saturating_add(echoes);
        if self.echoes >= ECHOES_PROVEN {
            self.failures = 0;
        }
    }

    fn on_time(&mut self, now: Instant) {
        let waited = self.since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since));
        let is_over = match self.mode {
            Mode::Probing => waited > self.patience(),
            Mode::Open if self.unanswered >= UNANSWERED_MIN => waited > self.patience(),
            Mode::Open if self.unanswered > 0 => waited > 3 * self.patience(),
            _ => false,
        };
        if is_over {
            self.fail(now);
        }
    }

    /// Nothing has come back. If not even a plain datagram has, that says nothing of headers: the path is down, and
    /// the next probe goes as soon as something is heard again.
    fn fail(&mut self, now: Instant) {
        self.answers = 0;
        if !self.is_alive {
            self.retry_at = None;
            return self.enter(Mode::Plain, now);
        }
        self.failures += 1;
        self.retry_at = Some(now + FIRST_WAIT * 2u32.pow(self.failures.min(PROBES_MAX) - 1));
        self.enter(if self.failures < PROBES_MAX { Mode::Plain } else { Mode::Closed }, now);
    }

    fn enter(&mut self, mode: Mode, now: Instant) {
        self.mode = mode;
        self.since = Some(now);
        self.is_alive = false;
        self.unanswered = 0;
        self.timeouts = 0;
        self.echoes = 0;
    }

    fn may_probe(&self, now: Instant) -> bool {
        self.is_alive && self.retry_at.is_none_or(|at| now >= at)
    }

    /// A header of the peer lets out one of this end, which may be a probe, too.
    fn answer(&mut self, now: Instant, is_eliciting: bool) -> Carries {
        if self.answers == 0 {
            return Carries::Nothing;
        }
        self.answers -= 1;
        if !is_eliciting {
            return Carries::Echo;
        }
        if self.mode != Mode::Probing {
            self.enter(Mode::Probing, now);
        }
        Carries::Request
    }

    fn patience(&self) -> Duration {
        self.srtt.map_or(PATIENCE_UNKNOWN, |srtt| (3 * srtt).max(PATIENCE_MIN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(540);
    const MS: Duration = Duration::from_millis(1);

    /// A passage in virtual time, with the kernel's numbers.
    struct Path {
        passage: Passage,
        now: Instant,
        heard: Heard,
    }

    impl Path {
        /// Of an established connection.
        fn new() -> Self {
            let mut path = Self::waiting();
            path.passage.on_rtt(RTT);
            path.passage.on_established(path.now);
            path
        }

        fn waiting() -> Self {
            Self { passage: Passage::default(), now: Instant::now(), heard: Heard::default() }
        }

        fn open() -> Self {
            let mut path = Self::new();
            assert_eq!(path.send(), Carries::Request);
            path.receive(1, 1);
            assert_eq!(path.mode(), Mode::Open);
            path
        }

        fn mode(&self) -> Mode {
            self.passage.mode()
        }

        fn send(&mut self) -> Carries {
            self.passage.on_send(self.now, true)
        }

        fn acknowledge(&mut self) -> Carries {
            self.passage.on_send(self.now, false)
        }

        /// One batch with so many headers and, of these, echoes.
        fn receive(&mut self, headers: u64, echoes: u32) {
            self.heard.rx_headers += headers;
            self.heard.nr_echoes = self.heard.nr_echoes.wrapping_add(echoes);
            self.passage.on_receive(self.now, self.heard);
        }

        fn wait(&mut self, time: Duration) {
            self.now += time;
        }

        /// Sends and receives plain datagrams until a probe goes; how long that took.
        fn until_probe(&mut self, at_most: Duration) -> Option<Duration> {
            let began = self.now;
            while self.now - began <= at_most {
                if self.send() == Carries::Request {
                    return Some(self.now - began);
                }
                self.receive(0, 0);
                self.wait(10 * MS);
            }
            None
        }
    }

    #[test]
    fn nothing_carries_a_header_before_the_connection_is_established() {
        let mut path = Path::waiting();
        path.receive(1, 0);
        assert_eq!(path.send(), Carries::Nothing);
        assert_eq!(path.acknowledge(), Carries::Nothing);
        assert_eq!(path.mode(), Mode::Waiting);
    }

    #[test]
    fn one_probe_goes_and_no_more_before_its_echo() {
        let mut path = Path::new();
        assert_eq!(path.acknowledge(), Carries::Nothing);
        assert_eq!(path.send(), Carries::Request);
        for _ in 0..100 {
            assert_eq!(path.send(), Carries::Nothing);
            assert_eq!(path.acknowledge(), Carries::Nothing);
            path.receive(0, 0);
        }
        path.receive(1, 1);
        assert_eq!(path.mode(), Mode::Open);
        assert_eq!(path.send(), Carries::Request);
    }

    #[test]
    fn a_peer_without_the_shim_costs_eight_datagrams_at_doubling_waits() {
        let mut path = Path::new();
        assert_eq!(path.send(), Carries::Request);
        let mut waits = Vec::new();
        while let Some(wait) = path.until_probe(Duration::from_secs(200)).filter(|_| waits.len() < 9) {
            waits.push(wait.as_secs_f64());
        }
        assert_eq!(path.mode(), Mode::Closed);
        assert_eq!(waits.len(), 7, "{waits:?}");
        for (failures, wait) in waits.iter().enumerate() {
            let expected = 3.0 * RTT.as_secs_f64() + f64::from(1 << failures);
            assert!((wait - expected).abs() < 0.05, "{waits:?}");
        }
    }

    #[test]
    fn an_outage_is_not_held_against_headers() {
        let mut path = Path::open();
        for _ in 0..600 {
            path.wait(100 * MS); // a minute without a word
            path.send();
        }
        assert_eq!(path.mode(), Mode::Plain);
        path.receive(0, 0); // the path is back
        assert_eq!(path.send(), Carries::Request, "a probe at once");
        path.receive(1, 1);
        assert_eq!(path.mode(), Mode::Open);
        assert_eq!(path.passage.failures, 0);
    }

    #[test]
    fn an_open_path_goes_plain_when_echoes_cease() {
        let mut path = Path::open();
        let began = path.now;
        let mut with_header = 0;
        while path.send() == Carries::Request {
            with_header += 1;
            path.receive(0, 0);
            path.wait(10 * MS);
        }
        assert_eq!(path.mode(), Mode::Plain);
        assert!(path.now - began <= 3 * RTT + 20 * MS);
        assert!(with_header >= UNANSWERED_MIN);
        let wait = path.until_probe(Duration::from_secs(10)).expect("a probe");
        assert!(wait >= FIRST_WAIT - 10 * MS, "{wait:?}");
    }

    #[test]
    fn a_lone_datagram_without_echo_is_given_more_time() {
        let mut path = Path::open();
        path.send();
        path.wait(4 * RTT);
        assert_eq!(path.send(), Carries::Request);
        assert_eq!(path.mode(), Mode::Open);
        path.wait(6 * RTT);
        assert_eq!(path.send(), Carries::Nothing);
    }

    #[test]
    fn a_pause_of_the_sender_closes_nothing() {
        let mut path = Path::open();
        path.send();
        path.receive(1, 1);
        path.wait(Duration::from_secs(3600));
        assert_eq!(path.send(), Carries::Request);
        assert_eq!(path.mode(), Mode::Open);
    }

    #[test]
    fn two_timeouts_in_a_row_go_plain_at_once() {
        let mut path = Path::open();
        path.send();
        path.passage.on_timeout(path.now);
        assert_eq!(path.send(), Carries::Request);
        path.receive(1, 1);
        path.passage.on_timeout(path.now); // with nothing outstanding
        path.send();
        path.passage.on_timeout(path.now);
        path.passage.on_timeout(path.now);
        assert_eq!(path.send(), Carries::Nothing);
    }

    #[test]
    fn a_receiver_answers_each_header_and_stops_with_the_first_plain_batch() {
        let mut path = Path::waiting();
        path.passage.on_established(path.now);
        path.receive(2, 0);
        let answers = [path.acknowledge(), path.acknowledge(), path.acknowledge()];
        assert_eq!(answers, [Carries::Echo, Carries::Echo, Carries::Nothing]);
        path.receive(3, 0);
        path.receive(0, 0); // the peer has gone plain
        assert_eq!(path.acknowledge(), Carries::Nothing);
    }

    #[test]
    fn an_open_end_that_only_acknowledges_stops_with_the_first_plain_batch() {
        let mut path = Path::open();
        path.receive(1, 1);
        assert_eq!(path.acknowledge(), Carries::Echo);
        path.receive(0, 0);
        assert_eq!(path.acknowledge(), Carries::Nothing);
        assert_eq!(path.mode(), Mode::Open);
    }

    #[test]
    fn a_header_of_the_peer_lets_a_closed_path_try_again() {
        let mut path = Path::new();
        path.send();
        for _ in 0..PROBES_MAX {
            path.until_probe(Duration::from_secs(200));
        }
        assert_eq!(path.mode(), Mode::Closed);
        path.receive(1, 0);
        assert_eq!(path.send(), Carries::Request);
        assert_eq!(path.send(), Carries::Nothing);
        path.receive(1, 1);
        assert_eq!(path.mode(), Mode::Open);
    }

    #[test]
    fn a_late_echo_opens_nothing() {
        let mut path = Path::open();
        while path.send() == Carries::Request {
            path.receive(0, 0);
            path.wait(10 * MS);
        }
        path.receive(1, 1);
        assert_eq!(path.mode(), Mode::Plain);
    }

    #[test]
    fn failures_are_forgotten_only_once_a_path_has_proven_itself() {
        let mut path = Path::new();
        path.passage.failures = 5;
        path.send();
        for echo in 0..ECHOES_PROVEN {
            assert_eq!(path.passage.failures, 5, "{echo}");
            path.receive(1, 1);
            path.send();
        }
        assert_eq!(path.passage.failures, 0);
    }

    /// Both ends, with a path that may lose headers in either direction: payload always gets through in the end.
    #[test]
    fn a_path_that_loses_headers_one_way_leaves_no_end_stuck() {
        for (there_drops, back_drops) in [(true, false), (false, true), (true, true)] {
            let (mut a, mut b) = (Path::open(), Path::new());
            b.now = a.now;
            let mut lost_in_a_row = 0;
            let mut longest = 0;
            for _ in 0..3000 {
                let sent = a.send();
                let arrives = sent == Carries::Nothing || !there_drops;
                let acknowledged = arrives && {
                    b.receive((sent != Carries::Nothing).into(), 0);
                    let answer = b.acknowledge();
                    let returns = answer == Carries::Nothing || !back_drops;
                    if returns {
                        let echoes = (answer != Carries::Nothing).into();
                        a.receive(u64::from(echoes), echoes);
                    }
                    returns
                };
                lost_in_a_row = if acknowledged { 0 } else { lost_in_a_row + 1 };
                longest = longest.max(lost_in_a_row);
                a.wait(50 * MS);
                b.wait(50 * MS);
            }
            // The patience of an open path, at one datagram in 50 ms; later a probe at a time.
            assert!(longest <= 34, "{longest} lost in a row");
            assert_ne!(a.mode(), Mode::Open);
            assert_eq!(lost_in_a_row, 0);
        }
    }
}
