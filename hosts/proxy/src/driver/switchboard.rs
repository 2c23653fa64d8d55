// SPDX-License-Identifier: Apache-2.0
//! Between a tunnel's law and the headers of whatever socket its packets go through at present: a peer that moves
//! to another address gets another socket.

use std::sync::{Arc, Mutex};

use crate::header::{Channel, Echo, HeaderSocket, Request};

#[derive(Clone, Debug, Default)]
pub struct Switchboard(Arc<Mutex<Option<HeaderSocket>>>);

impl Switchboard {
    pub fn plug(&self, header: Option<HeaderSocket>) {
        if let Ok(mut place) = self.0.lock() {
            *place = header;
        }
    }

    fn with<T>(&self, ask: impl FnOnce(&HeaderSocket) -> T) -> Option<T> {
        self.0.lock().ok()?.as_ref().map(ask)
    }
}

impl Channel for Switchboard {
    fn echo(&self) -> Option<Echo> {
        self.with(HeaderSocket::echo).flatten()
    }

    fn request(&self, request: Request) {
        self.with(|header| header.request(request));
    }

    fn note_eliciting(&self) {
        self.with(HeaderSocket::note_eliciting);
    }
}
