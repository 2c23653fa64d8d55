// SPDX-License-Identifier: Apache-2.0
//! Between a tunnel's law and the headers of whatever socket its packets go through at present: a peer that moves
//! to another address gets another socket.

use std::sync::{Arc, Mutex, PoisonError};

use crate::header::{Channel, Echo, HeaderSocket, Request};

#[derive(Clone, Debug, Default)]
pub struct Switchboard(Arc<Mutex<Lines>>);

#[derive(Debug, Default)]
struct Lines {
    header: Option<HeaderSocket>,
    /// What the law has asked for last; it says nothing while that does not change.
    request: Option<Request>,
    /// Drops by queues of this host, of sockets before this one and in all: a law's counts do not begin anew.
    local_drops_before: u32,
    local_drops: u32,
}

impl Switchboard {
    pub fn plug(&self, header: Option<HeaderSocket>) {
        self.with(|lines| {
            if let (Some(header), Some(request)) = (&header, lines.request) {
                header.request(request);
            }
            lines.header = header;
            lines.local_drops_before = lines.local_drops;
        });
    }

    fn with<T>(&self, act: impl FnOnce(&mut Lines) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Channel for Switchboard {
    fn echo(&self) -> Option<Echo> {
        self.with(|lines| {
            let mut echo = lines.header.as_ref()?.echo()?;
            lines.local_drops = lines.local_drops_before.wrapping_add(echo.local_drops);
            echo.local_drops = lines.local_drops;
            Some(echo)
        })
    }

    fn request(&self, request: Request) {
        self.with(|lines| {
            lines.request = Some(request);
            if let Some(header) = &lines.header {
                header.request(request);
            }
        });
    }

    fn note_eliciting(&self) {
        self.with(|lines| {
            if let Some(header) = &lines.header {
                header.note_eliciting();
            }
        });
    }
}
