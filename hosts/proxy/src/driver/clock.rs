// SPDX-License-Identifier: Apache-2.0
//! Time and signals as things to wait for.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};

/// A timer that is finer than the milliseconds of epoll: pacing needs that.
pub struct Timer {
    timer: TimerFd,
    set_to: Option<Instant>,
}

impl Timer {
    pub fn new() -> io::Result<Self> {
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        Ok(Self { timer: TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?, set_to: None })
    }

    pub fn raw(&self) -> RawFd {
        self.timer.as_fd().as_raw_fd()
    }

    /// Goes off at `at`, at once if that has passed.
    pub fn set(&mut self, at: Instant, now: Instant) -> io::Result<()> {
        if self.set_to == Some(at) {
            return Ok(());
        }
        let wait = at.saturating_duration_since(now).max(Duration::from_nanos(1));
        self.timer.set(Expiration::OneShot(TimeSpec::from_duration(wait)), TimerSetTimeFlags::empty())?;
        self.set_to = Some(at);
        Ok(())
    }

    /// It went off.
    pub fn clear(&mut self) {
        let mut expirations = [0; 8];
        let _ = nix::unistd::read(&self.timer, &mut expirations);
        self.set_to = None;
    }
}

/// SIGTERM and SIGINT, which end the program, and SIGHUP, which makes it read its settings again.
pub struct Signals(SignalFd);

impl Signals {
    pub fn new() -> io::Result<Self> {
        let mut set = SigSet::empty();
        for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
            set.add(signal);
        }
        set.thread_block()?;
        Ok(Self(SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?))
    }

    pub fn raw(&self) -> RawFd {
        let fd: BorrowedFd<'_> = self.0.as_fd();
        fd.as_raw_fd()
    }

    /// The next signal that has come.
    pub fn next(&mut self) -> Option<Signal> {
        let received = self.0.read_signal().ok()??;
        Signal::try_from(received.ssi_signo as i32).ok()
    }
}
