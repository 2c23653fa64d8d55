// SPDX-License-Identifier: Apache-2.0
//! What accepts TCP connections at a client.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result};
use mio::net::{TcpListener, TcpStream};
use socket2::SockRef;

use crate::config::{ClientSettings, Forward};
use crate::transparent;

/// Where an accepted connection is to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    Fixed(SocketAddr),
    /// Where it was going before it was intercepted.
    Original,
}

pub struct Listener {
    pub listener: TcpListener,
    pub destination: Destination,
}

/// Connections accepted at once before others have their turn.
const TURN_CONNECTIONS: usize = 64;

impl Listener {
    fn forward(forward: &Forward) -> Result<Self> {
        let listener = TcpListener::bind(forward.listen).with_context(|| {
            format!("cannot listen at {}; choose another address in --forward", forward.listen)
        })?;
        Ok(Self { listener, destination: Destination::Fixed(forward.destination) })
    }

    /// The listeners that settings ask for.
    pub fn all(settings: &ClientSettings) -> Result<Vec<Self>> {
        let mut listeners = settings.forwards.iter().map(Self::forward).collect::<Result<Vec<_>>>()?;
        if let Some(transparent) = &settings.transparent {
            for listener in transparent::listeners(transparent)? {
                let listener = TcpListener::from_std(listener);
                listeners.push(Self { listener, destination: Destination::Original });
            }
        }
        for each in &listeners {
            // What is accepted inherits it, so that it is reset even if the program dies before it is looked at.
            let _ = SockRef::from(&each.listener).set_linger(Some(Duration::ZERO));
        }
        Ok(listeners)
    }

    /// Accepts what waits: each connection, where it comes from and where it is to go; true if more may wait.
    pub fn accept(&self, mut each: impl FnMut(TcpStream, SocketAddr, SocketAddr)) -> bool {
        for _ in 0..TURN_CONNECTIONS {
            let (stream, source) = match self.listener.accept() {
                Ok(accepted) => accepted,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
                Err(error) => {
                    tracing::warn!(%error, "accept");
                    return false;
                }
            };
            let destination = match self.destination {
                Destination::Fixed(destination) => Ok(destination),
                Destination::Original => stream.local_addr(),
            };
            match destination {
                Ok(destination) => each(stream, source, destination),
                Err(error) => tracing::debug!(%error, "accepted connection without address"),
            }
        }
        true
    }
}
