// SPDX-License-Identifier: Apache-2.0
//! Tells systemd how the program is, as sd_notify(3) does, if $NOTIFY_SOCKET says that it wants to know.

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use nix::time::{ClockId, clock_gettime};

/// It serves: a server listens, a client has its tunnel and its listeners.
pub fn notify_ready() {
    notify("READY=1\nSTATUS=serving");
}

pub fn notify_stopping() {
    notify("STOPPING=1");
}

/// It reads its settings again; `notify_ready` says when that is over.
pub fn notify_reloading() {
    let since_us = clock_gettime(ClockId::CLOCK_MONOTONIC)
        .map_or(0, |time| time.tv_sec() as u64 * 1_000_000 + time.tv_nsec() as u64 / 1_000);
    notify(&format!("RELOADING=1\nMONOTONIC_USEC={since_us}"));
}

fn notify(state: &str) {
    let Some(socket) = std::env::var_os("NOTIFY_SOCKET") else { return };
    if let Err(error) = send(&socket, state) {
        tracing::warn!("systemd was not told {state:?}: {error}");
    }
}

/// A name that begins with `@` is none of the file system.
fn send(socket: &OsStr, state: &str) -> io::Result<()> {
    let address = match socket.as_bytes() {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
        _ => SocketAddr::from_pathname(socket)?,
    };
    UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(socket: &UnixDatagram) -> String {
        let mut buffer = [0; 64];
        let count = socket.recv(&mut buffer).expect("datagram");
        String::from_utf8_lossy(&buffer[..count]).into_owned()
    }

    #[test]
    fn reaches_a_socket_in_a_folder() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("notify");
        let socket = UnixDatagram::bind(&path).expect("socket");
        send(path.as_os_str(), "READY=1").expect("sent");
        assert_eq!(received(&socket), "READY=1");
    }

    #[test]
    fn reaches_an_abstract_socket() {
        let name = format!("clarion-proxy-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).expect("address");
        let socket = UnixDatagram::bind_addr(&address).expect("socket");
        send(OsStr::new(&format!("@{name}")), "STOPPING=1").expect("sent");
        assert_eq!(received(&socket), "STOPPING=1");
    }

    #[test]
    fn nobody_there_is_an_error_and_no_more() {
        assert!(send(OsStr::new("/nonexistent/notify"), "READY=1").is_err());
    }
}
