// SPDX-License-Identifier: Apache-2.0
//! The pinned maps of the shim.

use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::Path;

use clarion_layout::{Flow, FlowAsk};
use libbpf_rs::{ErrorExt, ErrorKind, MapCore, MapFlags, MapHandle};

/// Where clarion-host pins them.
const PINS: &str = "/sys/fs/bpf/clarion";

/// Why packets cannot carry headers.
#[derive(Debug, thiserror::Error)]
pub enum HeaderError {
    #[error("headers need the maps in {PINS}: run as root, or with --header off")]
    NotAllowed,
    #[error(
        "the shim in the kernel is of another version (map {map} holds {found} bytes, not {expected}): \
         clarion-host detach --all, then attach with the clarion-host of this version"
    )]
    Version { map: &'static str, found: u32, expected: usize },
    #[error("headers need a connected UDP socket")]
    NotConnected,
    #[error("{what}: {error}")]
    Kernel { what: &'static str, error: io::Error },
}

/// The two maps of UDP flows. Their keys are sockets, by descriptor.
#[derive(Debug)]
pub struct Maps {
    asks: MapHandle,
    flows: MapHandle,
}

impl Maps {
    /// `None` if the namespace with this cookie has no shim.
    pub fn open(netns_cookie: u64) -> Result<Option<Self>, HeaderError> {
        let (Some(attached), Some(flows)) = (open("attached")?, open("flows")?) else {
            return Ok(None);
        };
        let entry = attached.lookup(&netns_cookie.to_ne_bytes(), MapFlags::ANY);
        if entry.map_err(|error| kernel("read the map of attached namespaces", error))?.is_none() {
            return Ok(None);
        }
        check_size("flows", &flows, size_of::<Flow>())?;
        let expected = size_of::<FlowAsk>();
        let asks = open("asks")?.ok_or(HeaderError::Version { map: "asks", found: 0, expected })?;
        check_size("asks", &asks, expected)?;
        Ok(Some(Self { asks, flows }))
    }

    pub fn write_ask(&self, socket: BorrowedFd<'_>, ask: &FlowAsk) -> Result<(), HeaderError> {
        // In place, under the lock of the entry: a packet reads all of the old or all of the new.
        let written = self.asks.update(&key(socket), clarion_layout::bytes_of(ask), MapFlags::LOCK);
        written.map_err(|error| kernel("ask for headers", error))
    }

    pub fn delete_ask(&self, socket: BorrowedFd<'_>) {
        let _ = self.asks.delete(&key(socket)); // is not there if nothing was asked for
    }

    /// `None` before the first packet with a header.
    pub fn read_flow(&self, socket: BorrowedFd<'_>) -> Result<Option<Flow>, HeaderError> {
        let mut bytes = [0; size_of::<Flow>()];
        match self.flows.lookup_into(&key(socket), &mut bytes, MapFlags::LOCK) {
            Ok(true) => Ok(clarion_layout::from_bytes(&bytes)),
            Ok(false) => Ok(None),
            Err(error) => Err(kernel("read the state of headers", error)),
        }
    }
}

fn key(socket: BorrowedFd<'_>) -> [u8; 4] {
    socket.as_raw_fd().to_ne_bytes()
}

fn open(name: &'static str) -> Result<Option<MapHandle>, HeaderError> {
    match MapHandle::from_pinned_path(Path::new(PINS).join(name)) {
        Ok(map) => Ok(Some(map)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Err(HeaderError::NotAllowed),
        Err(error) => Err(kernel("open the maps of the shim", error.context(name))),
    }
}

fn check_size(name: &'static str, map: &MapHandle, expected: usize) -> Result<(), HeaderError> {
    let found = map.value_size();
    if found as usize == expected {
        return Ok(());
    }
    Err(HeaderError::Version { map: name, found, expected })
}

fn kernel(what: &'static str, error: libbpf_rs::Error) -> HeaderError {
    HeaderError::Kernel { what, error: io::Error::other(format!("{error:#}")) }
}
