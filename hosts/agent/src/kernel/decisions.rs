// SPDX-License-Identifier: Apache-2.0
//! Reductions of windows as they are made: by the laws of this project, and by the kernel's own.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use anyhow::{Context, Result};
use libbpf_rs::{Link, MapCore, MapFlags, Object, RingBuffer, RingBufferBuilder};

use crate::kernel::{maps, objects};
use crate::model::record::Decision;

type Received = Rc<RefCell<Vec<Decision>>>;

/// Both rings. That of the laws appears with the first attach, so it is looked for until it is there.
pub struct Decisions {
    laws: Option<RingBuffer<'static>>,
    kernel: RingBuffer<'static>,
    received: Received,
    _link: Link,
    _object: Object,
}

impl Decisions {
    /// Watches the kernel's own congestion controls in the namespaces with these cookies.
    pub fn open(cookies: &[u64]) -> Result<Self> {
        let object = objects::load(objects::open(objects::DECISIONS, "decisions")?, "decisions")?;
        for map in object.maps() {
            if map.name() == "watched" {
                watch(&map, cookies)?;
            }
        }
        let ring = object.maps().find(|map| map.name() == "kernel_decisions").context("no ring")?;
        let received = Received::default();
        let kernel = ring_buffer(&ring, &received)?;
        let program = object.progs_mut().next().context("decisions without program")?;
        let link = program.attach_trace().context("attach to the tracepoint tcp_cong_state_set")?;
        Ok(Self { laws: None, kernel, received, _link: link, _object: object })
    }

    /// Waits for at most `timeout` and returns what has come, in the order of time.
    pub fn read(&mut self, timeout: Duration) -> Result<Vec<Decision>> {
        if self.laws.is_none() {
            self.laws = match maps::open("decisions") {
                Some(map) => Some(ring_buffer(&map, &self.received)?),
                None => None,
            };
        }
        if let Some(laws) = &self.laws {
            laws.consume().context("read the decisions of the laws")?;
        }
        // Interrupted by a signal: the caller looks whether it is to stop.
        let _ = self.kernel.poll(timeout);
        let mut decisions = self.received.take();
        decisions.sort_by_key(|decision| decision.time_ns);
        Ok(decisions)
    }

    /// The namespaces of attachments made meanwhile.
    pub fn also_watch(&self, cookies: &[u64]) -> Result<()> {
        let map = self._object.maps().find(|map| map.name() == "watched").context("no map of namespaces")?;
        watch(&map, cookies)
    }
}

fn watch(map: &dyn MapCore, cookies: &[u64]) -> Result<()> {
    for cookie in cookies {
        map.update(&cookie.to_ne_bytes(), &[1], MapFlags::ANY).context("write map watched")?;
    }
    Ok(())
}

fn ring_buffer(map: &dyn MapCore, received: &Received) -> Result<RingBuffer<'static>> {
    let received = Rc::clone(received);
    let mut builder = RingBufferBuilder::new();
    builder.add(map, move |bytes| {
        received.borrow_mut().extend(clarion_layout::from_bytes::<Decision>(bytes));
        0
    })?;
    builder.build().context("open a ring of decisions")
}
