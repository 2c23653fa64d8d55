// SPDX-License-Identifier: Apache-2.0
//! The flows that live, by a program that walks over the sockets that have one.

use std::cell::RefCell;
use std::io::Read;
use std::os::fd::AsFd;
use std::rc::Rc;

use anyhow::{bail, Context, Result};
use libbpf_rs::{Iter, Link, MapCore, Object, RingBuffer, RingBufferBuilder};

use crate::kernel::{maps, objects};
use crate::model::record::FlowRecord;

/// The program, attached, and the ring that it fills.
pub struct Flows {
    link: Link,
    ring: RingBuffer<'static>,
    found: Rc<RefCell<Vec<FlowRecord>>>,
    _object: Object,
}

impl Flows {
    /// `None` if nothing is attached.
    pub fn open() -> Result<Option<Self>> {
        let Some(map) = maps::open("flows") else {
            return Ok(None);
        };
        let id = map.info().context("ask for the map of flows")?.info.id;
        let mut object = objects::open(objects::STATS, "stats")?;
        objects::set_rodata(&mut object, "flows_id", &id.to_ne_bytes())?;
        let object = objects::load(object, "stats")?;
        let program = object.progs_mut().next().context("stats without program")?;
        let link = program.attach_iter(map.as_fd()).context("attach the walk over the flows")?;
        let found = Rc::default();
        let ring = ring_buffer(&object, &found)?;
        Ok(Some(Self { link, ring, found, _object: object }))
    }

    pub fn read(&self) -> Result<Vec<FlowRecord>> {
        let mut missed = Vec::new();
        let mut walk = Iter::new(&self.link).context("open the walk over the flows")?;
        walk.read_to_end(&mut missed).context("walk over the flows")?;
        self.ring.consume().context("read the ring of flows")?;
        let found = self.found.take();
        if let Ok(missed) = missed.try_into().map(u32::from_ne_bytes) {
            bail!("{} flows live, and {missed} more than a sample holds", found.len());
        }
        Ok(found)
    }
}

fn ring_buffer(object: &Object, found: &Rc<RefCell<Vec<FlowRecord>>>) -> Result<RingBuffer<'static>> {
    let found = Rc::clone(found);
    let map = object.maps().find(|map| map.name() == "living").context("stats without ring")?;
    let mut builder = RingBufferBuilder::new();
    builder.add(&map, move |bytes| {
        found.borrow_mut().extend(clarion_layout::from_bytes::<FlowRecord>(bytes));
        0
    })?;
    builder.build().context("open the ring of flows")
}
