// SPDX-License-Identifier: Apache-2.0
//! Clarion's header on the packets of a tunnel.

mod channel;

pub use channel::{Channel, Echo, NoHeader, Request};

/// Stub.
#[derive(Clone, Debug)]
pub struct HeaderSocket;
impl HeaderSocket {
    pub fn attach(_: std::os::fd::BorrowedFd<'_>, _: bool) -> anyhow::Result<Option<Self>> {
        Ok(None)
    }
    pub fn before_send(&self, _: std::time::Instant) {}
    pub fn after_receive(&self, _: std::time::Instant) {}
}
impl Channel for HeaderSocket {
    fn echo(&self) -> Option<Echo> {
        None
    }
    fn request(&self, _: Request) {}
    fn note_eliciting(&self) {}
}
