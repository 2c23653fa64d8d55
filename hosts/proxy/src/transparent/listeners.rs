// SPDX-License-Identifier: Apache-2.0
//! Sockets for connections that were made to other addresses.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsRawFd;

use anyhow::{Context, Result};
use socket2::{Domain, Protocol, Socket, Type};

use super::family::Family;
use super::marks::mark_own;
use super::rights;
use crate::config::TransparentSettings;

/// Connections that wait to be accepted.
const BACKLOG: libc::c_int = 1024;

/// One for each address family that is intercepted; the local address of what they accept is the original
/// destination.
pub fn listeners(settings: &TransparentSettings) -> Result<Vec<TcpListener>> {
    rights::check()?;
    let open = |family: Family| {
        let address = SocketAddr::new(family.listen_address(), settings.port);
        listener(address).with_context(|| {
            format!("cannot listen at {address}; choose another port for intercepted connections")
        })
    };
    Family::of_settings(settings)?.into_iter().map(open).collect()
}

fn listener(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    set_transparent(&socket, address)?;
    // Accepted sockets inherit this mark; else, with net.ipv4.tcp_fwmark_accept, they would have that of the
    // intercepted packets, and their answers would come back to this host.
    mark_own(&socket)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Lets a socket speak from addresses that are not this host's (ip(7), ipv6(7)).
fn set_transparent(socket: &Socket, address: SocketAddr) -> io::Result<()> {
    if address.is_ipv4() {
        return socket.set_ip_transparent_v4(true);
    }
    socket.set_only_v6(true)?;
    let on: libc::c_int = 1;
    // SAFETY: the kernel reads an int of the length that is given.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_IPV6,
            libc::IPV6_TRANSPARENT,
            (&raw const on).cast(),
            size_of_val(&on) as libc::socklen_t,
        )
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
