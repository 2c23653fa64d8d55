// SPDX-License-Identifier: Apache-2.0
//! One connected UDP socket whose datagrams may carry headers.

use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use clarion_layout::{Flow, FlowAsk};

use super::channel::{Channel, Echo, Request};
use super::maps::{HeaderError, Maps};
use super::passage::{Carries, Heard, Mode, Passage};

/// `SO_NETNS_COOKIE` of <asm-generic/socket.h>.
const SO_NETNS_COOKIE: libc::c_int = 71;

/// A socket that asks the shim for headers. Copies are of the same socket. Nothing carries a header before
/// [`HeaderSocket::on_established`].
///
/// The socket stays open, and its port taken, while a copy lives.
#[derive(Clone, Debug)]
pub struct HeaderSocket {
    inner: Arc<Inner>,
}

/// Eight bytes that every datagram of the peer has at a place of its payload, and that a stranger cannot guess: of
/// QUIC's packets with short header, the begin of the connection ID that this end has chosen, at 1 (RFC 9000, 17.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    pub at: u8,
    pub bytes: [u8; 8],
}

#[derive(Debug)]
struct Inner {
    socket: OwnedFd,
    maps: Maps,
    netns_cookie: u64,
    cookie: u64,
    tags: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    passage: Passage,
    request: Request,
    /// The datagram that is sent next will be acknowledged.
    is_eliciting: bool,
    /// What the one before carried.
    carries: Carries,
    guard: Option<Guard>,
    /// What the kernel has.
    written: Option<FlowAsk>,
    echo: Echo,
}

impl HeaderSocket {
    /// `socket` is connected; `tags`: loss causes are wanted. `None` if the socket's namespace has no shim.
    pub fn attach(socket: BorrowedFd<'_>, tags: bool) -> Result<Option<Self>, HeaderError> {
        if !is_connected(socket) {
            return Err(HeaderError::NotConnected);
        }
        let netns_cookie = option_u64(socket, SO_NETNS_COOKIE)?;
        let Some(maps) = Maps::open(netns_cookie)? else {
            return Ok(None);
        };
        let cookie = option_u64(socket, libc::SO_COOKIE)?;
        let socket = socket
            .try_clone_to_owned()
            .map_err(|error| HeaderError::Kernel { what: "duplicate the socket", error })?;
        let inner = Inner { socket, maps, netns_cookie, cookie, tags, state: Mutex::default() };
        let socket = Self { inner: Arc::new(inner) };
        socket.inner.ask(&mut socket.inner.state(), Carries::Nothing)?;
        Ok(Some(socket))
    }

    /// From now on only headers of datagrams with these bytes are believed. Others come off all the same.
    pub fn guard(&self, guard: Guard) -> Result<(), HeaderError> {
        let mut state = self.inner.state();
        state.guard = Some(guard);
        let carries = state.carries;
        self.inner.ask(&mut state, carries)
    }

    /// The connection is established; from now on datagrams may carry headers.
    pub fn on_established(&self, now: Instant) {
        self.inner.state().passage.on_established(now);
    }

    /// The smoothed round trip time has changed: so long an echo is waited for, at least.
    pub fn on_rtt(&self, srtt: Duration) {
        self.inner.state().passage.on_rtt(srtt);
    }

    /// A probe timeout of QUIC.
    pub fn on_timeout(&self, now: Instant) {
        self.inner.state().passage.on_timeout(now);
    }

    /// Settles what the datagram that is sent next carries. To be called before each; a system call only if that
    /// differs from the one before.
    pub fn before_send(&self, now: Instant) {
        let mut state = self.inner.state();
        let is_eliciting = std::mem::take(&mut state.is_eliciting);
        let carries = state.passage.on_send(now, is_eliciting);
        if let Err(error) = self.inner.ask(&mut state, carries) {
            tracing::debug!(%error, "datagram without the header that it should have"); // tried again with the next
        }
    }

    /// Reads what the kernel has heard. To be called once for each batch of datagrams received.
    pub fn after_receive(&self, now: Instant) {
        let flow = match self.inner.maps.read_flow(self.inner.socket.as_fd()) {
            Ok(flow) => flow,
            Err(error) => return tracing::debug!(%error, "echo not read"),
        };
        let mut state = self.inner.state();
        let heard = flow.as_ref().map_or_else(Heard::default, heard_of);
        state.passage.on_receive(now, heard);
        if let Some(flow) = flow {
            state.echo = echo_of(&flow, self.inner.tags);
        }
    }

    pub fn mode(&self) -> Mode {
        self.inner.state().passage.mode()
    }
}

impl Channel for HeaderSocket {
    fn echo(&self) -> Option<Echo> {
        let state = self.inner.state();
        (state.passage.mode() == Mode::Open).then_some(state.echo)
    }

    fn request(&self, request: Request) {
        self.inner.state().request = request;
    }

    fn note_eliciting(&self) {
        self.inner.state().is_eliciting = true;
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(&self, state: &mut State, carries: Carries) -> Result<(), HeaderError> {
        let ask = FlowAsk {
            netns_cookie: self.netns_cookie,
            cookie: self.cookie,
            request: state.request.into(),
            carries: carries as u8,
            tags: self.tags.into(),
            guard_at: state.guard.map_or(0, |guard| guard.at),
            guard: state.guard.map_or([0; 8], |guard| guard.bytes),
            guard_mask: if state.guard.is_some() { u64::MAX } else { 0 },
            ..FlowAsk::default()
        };
        state.carries = carries;
        if state.written.is_none_or(|old| !is_same(&old, &ask)) {
            self.maps.write_ask(self.socket.as_fd(), &ask)?;
            state.written = Some(ask);
        }
        Ok(())
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.maps.delete_ask(self.socket.as_fd()); // the socket may live on, without headers
    }
}

/// While nothing is carried, a new request need not be told.
fn is_same(old: &FlowAsk, new: &FlowAsk) -> bool {
    let request = if new.carries == Carries::Nothing as u8 { old.request } else { new.request };
    *old == FlowAsk { request, ..*new }
}

fn heard_of(flow: &Flow) -> Heard {
    Heard { nr_echoes: flow.echo.nr_echoes, rx_headers: flow.stats.rx_headers }
}

fn echo_of(flow: &Flow, tags: bool) -> Echo {
    Echo {
        reverse_feedback: flow.echo.reverse_feedback,
        rev_corrupt: flow.echo.rev_corrupt,
        rev_congest: flow.echo.rev_congest,
        nr_echoes: flow.echo.nr_echoes,
        regulated: flow.echo.regulated != 0,
        field: flow.echo.field,
        corrupt: flow.stats.corrupt,
        congest: flow.stats.congest,
        local_drops: flow.stats.local_drops,
        tags,
    }
}

fn is_connected(socket: BorrowedFd<'_>) -> bool {
    nix::sys::socket::getpeername::<nix::sys::socket::SockaddrStorage>(socket.as_raw_fd()).is_ok()
}

fn option_u64(socket: BorrowedFd<'_>, option: libc::c_int) -> Result<u64, HeaderError> {
    let mut value = 0u64;
    let mut length = size_of::<u64>() as libc::socklen_t;
    // SAFETY: `value` and `length` outlive the call, and `length` is the size of `value`.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            option,
            (&raw mut value).cast(),
            &raw mut length,
        )
    };
    if result == 0 {
        return Ok(value);
    }
    Err(HeaderError::Kernel { what: "ask for a cookie of the socket", error: io::Error::last_os_error() })
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    #[test]
    fn refuses_a_socket_that_is_not_connected() {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("socket");
        let refusal = HeaderSocket::attach(socket.as_fd(), true).expect_err("refused");
        assert!(matches!(refusal, HeaderError::NotConnected));
        assert_eq!(refusal.to_string(), "headers need a connected UDP socket");
    }

    #[test]
    fn only_a_request_that_is_carried_is_told() {
        let old = FlowAsk::default();
        let mut new = FlowAsk { cookie: 7, ..old };
        assert!(!is_same(&old, &new));
        new = old;
        new.request.rtt = 7;
        assert!(is_same(&old, &new));
        new.carries = Carries::Request as u8;
        assert!(!is_same(&old, &new));
        assert!(!is_same(&FlowAsk { carries: new.carries, ..old }, &new));
    }

    #[test]
    fn cookies_are_those_of_the_kernel() {
        let [one, other] = [0, 1].map(|_| UdpSocket::bind("127.0.0.1:0").expect("socket"));
        let cookie = |socket: &UdpSocket, option| option_u64(socket.as_fd(), option).expect("cookie");
        assert_ne!(cookie(&one, libc::SO_COOKIE), cookie(&other, libc::SO_COOKIE));
        assert_eq!(cookie(&one, SO_NETNS_COOKIE), cookie(&other, SO_NETNS_COOKIE));
    }
}
