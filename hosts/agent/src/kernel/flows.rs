// SPDX-License-Identifier: Apache-2.0
//! The flows that live, by an iterator of the kernel over the sockets that have one.

use std::io::Read;
use std::os::fd::AsFd;

use anyhow::{Context, Result};
use libbpf_rs::{Iter, Link, MapHandle, Object};

use crate::kernel::{maps, objects};
use crate::model::record::{self, FlowRecord};

/// The iterator, attached.
pub struct Flows {
    link: Link,
    _object: Object,
}

impl Flows {
    /// `None` if nothing is attached.
    pub fn open() -> Result<Option<Self>> {
        let Some(map) = maps::open("flows") else {
            return Ok(None);
        };
        let object = objects::load(objects::open(objects::STATS, "stats")?, "stats")?;
        let link = attach(&object, &map)?;
        Ok(Some(Self { link, _object: object }))
    }

    pub fn read(&self) -> Result<Vec<FlowRecord>> {
        let mut bytes = Vec::new();
        let mut iterator = Iter::new(&self.link).context("open the flow iterator")?;
        iterator.read_to_end(&mut bytes).context("read the flow iterator")?;
        Ok(bytes.chunks_exact(size_of::<FlowRecord>()).filter_map(record::from_bytes).collect())
    }
}

fn attach(object: &Object, map: &MapHandle) -> Result<Link> {
    let program = object.progs_mut().next().context("stats without program")?;
    program.attach_iter(map.as_fd()).context("attach the flow iterator")
}
