// SPDX-License-Identifier: Apache-2.0
//! `lldp`: says hello on every attached device and judges the wires by what comes back, until a signal comes.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;

use crate::kernel::device::index_of;
use crate::kernel::lldp_socket::LldpSocket;
use crate::kernel::netns::Netns;
use crate::kernel::{clock, maps};
use crate::model::attachment::Attachment;
use crate::model::lldp::{compose, parse, Judgement, Neighbours, TTL_S};
use crate::model::record::{Wire, WIRE_DISPROVED, WIRE_PROVEN};
use crate::operations::{signals, store};

const HELLO_EVERY_NS: u64 = 1_000_000_000;
const PERIOD: Duration = Duration::from_millis(50);

/// An attached device with its socket.
struct Speaker {
    attachment: Attachment,
    socket: LldpSocket,
    chassis: String,
    neighbours: Neighbours,
    judgement: Judgement,
}

pub fn run() -> Result<()> {
    signals::stop_on_term_and_int()?;
    let here = Netns::open(None)?;
    let mut speakers: BTreeMap<u32, Speaker> = BTreeMap::new();
    let mut next_hello_ns = 0;
    while !signals::stopped() {
        let now_ns = clock::monotonic_ns()?;
        if now_ns >= next_hello_ns {
            next_hello_ns = now_ns + HELLO_EVERY_NS;
            follow_attachments(&mut speakers, &here)?;
            speakers.values().for_each(|speaker| speaker.say(TTL_S));
        }
        for speaker in speakers.values_mut() {
            speaker.listen(now_ns)?;
        }
        std::thread::sleep(PERIOD); // a signal ends it early
    }
    for speaker in speakers.values_mut() {
        speaker.say(0);
        speaker.note(Judgement::Unproven, 0)?;
    }
    Ok(())
}

/// Opens sockets for devices that were attached meanwhile, and closes those of devices that are no longer.
fn follow_attachments(speakers: &mut BTreeMap<u32, Speaker>, here: &Netns) -> Result<()> {
    let attachments = store::read_all()?;
    speakers.retain(|_, speaker| attachments.contains(&speaker.attachment));
    for attachment in attachments {
        if attachment.complete && !speakers.contains_key(&attachment.key) {
            if let Some(speaker) = Speaker::open(attachment, here)? {
                speakers.insert(speaker.attachment.key, speaker);
            }
        }
    }
    Ok(())
}

impl Speaker {
    /// `None` if the namespace or the device is gone.
    fn open(attachment: Attachment, here: &Netns) -> Result<Option<Self>> {
        let (path, inode) = (&attachment.netns_path, attachment.netns_inode);
        let netns = Netns::find(path, inode, attachment.netns_cookie);
        here.enter()?;
        let Some(netns) = netns else { return Ok(None) };
        netns.enter()?;
        let lives = index_of(&attachment.device) == Some(attachment.ifindex);
        let socket = if lives { Some(LldpSocket::open(attachment.ifindex)) } else { None };
        here.enter()?;
        let Some(socket) = socket.transpose()? else { return Ok(None) };
        let chassis =
            format!("{}/{}", nix::unistd::gethostname()?.to_string_lossy(), attachment.netns_cookie);
        let neighbours = Neighbours::default();
        Ok(Some(Self { attachment, socket, chassis, neighbours, judgement: Judgement::Unproven }))
    }

    /// A hello that is lost, as on a device that is down, is not said again before the next one.
    fn say(&self, ttl_s: u16) {
        let _ =
            self.socket.send(&compose(self.socket.address, &self.chassis, &self.attachment.device, ttl_s));
    }

    fn listen(&mut self, now_ns: u64) -> Result<()> {
        let mut has_heard = false;
        while let Some(frame) = self.socket.receive() {
            if let Some(hello) = parse(&frame) {
                self.neighbours.hear(hello, now_ns);
                has_heard = true;
            }
        }
        let (judgement, until_ns) = self.neighbours.judge(now_ns);
        if has_heard || judgement != self.judgement {
            self.note(judgement, until_ns)?;
        }
        Ok(())
    }

    /// The programs hold a judgement until `until_ns` only: it ends by itself if this process dies.
    fn note(&mut self, judgement: Judgement, until_ns: u64) -> Result<()> {
        self.judgement = judgement;
        let judgement = match judgement {
            Judgement::Unproven => 0,
            Judgement::Proven => WIRE_PROVEN,
            Judgement::Disproved => WIRE_DISPROVED,
        };
        let is_declared = self.attachment.wire.into();
        maps::set_wire(self.attachment.key, &Wire { until_ns, judgement, is_declared, ..Wire::default() })
    }
}
