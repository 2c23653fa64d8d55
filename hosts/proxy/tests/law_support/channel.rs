// SPDX-License-Identifier: Apache-2.0
//! A path whose headers the test writes.

use std::sync::Mutex;

use clarion_proxy::header::{Channel, Echo, Request};

#[derive(Debug, Default)]
struct State {
    echo: Option<Echo>,
    request: Request,
    has_eliciting: bool,
}

#[derive(Debug, Default)]
pub struct FakeChannel(Mutex<State>);

impl FakeChannel {
    /// Headers pass, and loss causes come back.
    pub fn with_tags() -> Self {
        let echo = Echo { tags: true, ..Echo::default() };
        Self(Mutex::new(State { echo: Some(echo), ..State::default() }))
    }

    /// An echo of the path's totals has arrived.
    pub fn hear(&self, corrupt: u32, congest: u32) {
        let mut state = self.0.lock().unwrap();
        let Some(echo) = &mut state.echo else { return };
        echo.nr_echoes += 1;
        echo.corrupt = corrupt;
        echo.congest = congest;
        echo.rev_corrupt = corrupt as u16;
        echo.rev_congest = congest as u16;
    }

    /// An echo of a router's grants has arrived: their running total.
    pub fn grant(&self, reverse_feedback: u32) {
        let mut state = self.0.lock().unwrap();
        let Some(echo) = &mut state.echo else { return };
        echo.nr_echoes += 1;
        echo.regulated = true;
        echo.reverse_feedback = reverse_feedback;
    }

    pub fn asked(&self) -> Request {
        self.0.lock().unwrap().request
    }

    /// Has an ack-eliciting packet been noted since?
    pub fn take_eliciting(&self) -> bool {
        std::mem::take(&mut self.0.lock().unwrap().has_eliciting)
    }
}

impl Channel for FakeChannel {
    fn echo(&self) -> Option<Echo> {
        self.0.lock().unwrap().echo
    }

    fn request(&self, request: Request) {
        self.0.lock().unwrap().request = request;
    }

    fn note_eliciting(&self) {
        self.0.lock().unwrap().has_eliciting = true;
    }
}
