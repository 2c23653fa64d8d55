// SPDX-License-Identifier: Apache-2.0
//! Where the driver and those who look at it meet.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;

use super::Status;
use super::control::Control;
use super::scrape;
use crate::config::Config;

/// The status as the driver has shown it last.
#[derive(Debug, Default)]
pub struct Observed(Mutex<Status>);

impl Observed {
    pub fn show(&self, status: Status) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = status;
    }

    pub fn status(&self) -> Status {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What answers questions about a proxy, as long as it lives.
pub struct Observers {
    _control: Control,
}

impl Observers {
    /// To be called when signals are blocked already, as the threads of it must not take any.
    pub fn start(config: &Config, observed: &Arc<Observed>) -> Result<Self> {
        if let Some(address) = config.metrics {
            scrape::start(address, observed.clone())?;
        }
        Ok(Self { _control: Control::start(&config.control_socket, observed.clone())? })
    }
}
