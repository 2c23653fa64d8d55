// SPDX-License-Identifier: Apache-2.0
//! LLDP frames (IEEE 802.1AB) and what the neighbours of a device say of the wire in front of it.
//!
//! Bridges do not forward frames to the nearest-bridge group, so a hello comes from the other end of the wire, or from a
//! device on it that should not be there.

/// Destination of LLDP frames: the nearest bridge.
pub const GROUP: [u8; 6] = [0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e];
pub const ETHERTYPE: u16 = 0x88cc;
/// How long a hello counts; they come once a second.
pub const TTL_S: u16 = 4;

const HEADER_BYTES: usize = 14;
const MIN_FRAME_BYTES: usize = 60;
const LOCAL: u8 = 7; // subtype of locally assigned IDs, of chassis and port
const CHASSIS_BYTES_MAX: usize = 64;
const ID_BYTES_MAX: usize = 255;
const NEIGHBOURS_MAX: usize = 8;
/// OUI (locally administered), subtype and version of the TLV of a port that knows the header.
const CLARION: [u8; 5] = [0x0a, 0xc1, 0xa7, 1, 1];
const FLAG_STAMPS: u8 = 0x01;
const FLAG_CHECKS: u8 = 0x02;

const END: u16 = 0;
const CHASSIS: u16 = 1;
const PORT: u16 = 2;
const TTL: u16 = 3;
const ORGANISATION: u16 = 127;

/// A hello received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Chassis ID and port ID, each with its subtype.
    pub sender: (Vec<u8>, Vec<u8>),
    pub ttl_s: u16,
    /// Numbers the packets that leave; `None` of a sender that does not know the header.
    pub stamps: Option<bool>,
}

/// The frame of a device that numbers its packets and checks those that come in.
pub fn compose(source: [u8; 6], chassis: &str, port: &str, ttl_s: u16) -> Vec<u8> {
    let mut frame = [&GROUP[..], &source, &ETHERTYPE.to_be_bytes()].concat();
    push(&mut frame, CHASSIS, &identifier(chassis, CHASSIS_BYTES_MAX));
    push(&mut frame, PORT, &identifier(port, ID_BYTES_MAX));
    push(&mut frame, TTL, &ttl_s.to_be_bytes());
    push(&mut frame, ORGANISATION, &[&CLARION[..], &[FLAG_STAMPS | FLAG_CHECKS]].concat());
    push(&mut frame, END, &[]);
    frame.resize(frame.len().max(MIN_FRAME_BYTES), 0);
    frame
}

fn identifier(name: &str, bytes_max: usize) -> Vec<u8> {
    let end = (0..=name.len().min(bytes_max)).rev().find(|end| name.is_char_boundary(*end)).unwrap_or(0);
    [&[LOCAL], &name.as_bytes()[..end]].concat()
}

fn push(frame: &mut Vec<u8>, kind: u16, value: &[u8]) {
    frame.extend((kind << 9 | value.len() as u16).to_be_bytes());
    frame.extend(value);
}

/// Reads a frame; `None` for what the standard discards. TLVs of other organisations are skipped.
pub fn parse(frame: &[u8]) -> Option<Hello> {
    if frame.get(..6)? != GROUP || frame.get(12..HEADER_BYTES)? != ETHERTYPE.to_be_bytes() {
        return None;
    }
    let mut rest = &frame[HEADER_BYTES..];
    let chassis = mandatory(&mut rest, CHASSIS).filter(is_identifier)?;
    let port = mandatory(&mut rest, PORT).filter(is_identifier)?;
    let ttl = mandatory(&mut rest, TTL)?;
    let ttl_s = u16::from_be_bytes([*ttl.first()?, *ttl.get(1)?]);
    let mut stamps = None;
    loop {
        if rest.is_empty() {
            break;
        }
        match next(&mut rest)? {
            (END, []) => break,
            (END | CHASSIS | PORT | TTL, _) => return None,
            (ORGANISATION, value) if stamps.is_none() => stamps = clarion(value),
            _ => {}
        }
    }
    Some(Hello { sender: (chassis.to_vec(), port.to_vec()), ttl_s, stamps })
}

fn is_identifier(value: &&[u8]) -> bool {
    (2..=1 + ID_BYTES_MAX).contains(&value.len())
}

fn mandatory<'a>(rest: &mut &'a [u8], wanted: u16) -> Option<&'a [u8]> {
    next(rest).filter(|(kind, _)| *kind == wanted).map(|(_, value)| value)
}

/// The next TLV; `None` if it is cut short.
fn next<'a>(rest: &mut &'a [u8]) -> Option<(u16, &'a [u8])> {
    let head = u16::from_be_bytes([*rest.first()?, *rest.get(1)?]);
    let end = 2 + usize::from(head & 0x1ff);
    let value = rest.get(2..end)?;
    *rest = &rest[end..];
    Some((head >> 9, value))
}

fn clarion(value: &[u8]) -> Option<bool> {
    let flags = *value.get(CLARION.len())?;
    value.starts_with(&CLARION).then_some(flags & FLAG_STAMPS != 0)
}

/// What LLDP says of a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    Unproven,
    /// One neighbour, which numbers its packets.
    Proven,
    /// Several neighbours, or one that does not number its packets: sequence numbers may be stamped further upstream.
    Disproved,
}

/// The neighbours of one device that are alive.
#[derive(Default)]
pub struct Neighbours {
    alive: Vec<Neighbour>,
}

struct Neighbour {
    sender: (Vec<u8>, Vec<u8>),
    stamps: bool, // false of one that is not a Clarion port
    until_ns: u64,
}

impl Neighbours {
    /// A hello at `now_ns`; a time to live of 0 says goodbye.
    pub fn hear(&mut self, hello: Hello, now_ns: u64) {
        self.alive.retain(|neighbour| neighbour.sender != hello.sender && neighbour.until_ns > now_ns);
        if hello.ttl_s > 0 && self.alive.len() < NEIGHBOURS_MAX {
            let until_ns = now_ns + u64::from(hello.ttl_s) * 1_000_000_000;
            self.alive.push(Neighbour { sender: hello.sender, stamps: hello.stamps == Some(true), until_ns });
        }
    }

    /// The judgement at `now_ns`, and until when it holds if nothing more is heard.
    pub fn judge(&self, now_ns: u64) -> (Judgement, u64) {
        let alive: Vec<_> = self.alive.iter().filter(|neighbour| neighbour.until_ns > now_ns).collect();
        let until_ns = alive.iter().map(|neighbour| neighbour.until_ns).min().unwrap_or(0);
        let judgement = match alive[..] {
            [] => Judgement::Unproven,
            [one] if one.stamps => Judgement::Proven,
            _ => Judgement::Disproved,
        };
        (judgement, until_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: [u8; 6] = [2, 0, 0, 0, 0, 1];
    const SECOND_NS: u64 = 1_000_000_000;

    fn hello(chassis: &str, stamps: Option<bool>) -> Hello {
        Hello { sender: (chassis.into(), b"p1".to_vec()), ttl_s: TTL_S, stamps }
    }

    #[test]
    fn a_frame_byte_for_byte() {
        let frame = compose(SOURCE, "h1", "eth0", 4);
        let expected = [
            &[0x01, 0x80, 0xc2, 0, 0, 0x0e, 2, 0, 0, 0, 0, 1, 0x88, 0xcc][..],
            &[0x02, 3, 7, b'h', b'1'],
            &[0x04, 5, 7, b'e', b't', b'h', b'0'],
            &[0x06, 2, 0, 4],
            &[0xfe, 6, 0x0a, 0xc1, 0xa7, 1, 1, 3],
            &[0, 0],
        ]
        .concat();
        assert_eq!(frame[..expected.len()], expected);
        assert_eq!(frame.len(), 60);
    }

    #[test]
    fn reads_what_it_writes() {
        let found = parse(&compose(SOURCE, "host", "eth0", 4)).expect("a legal frame");
        assert_eq!(found.sender, (b"\x07host".to_vec(), b"\x07eth0".to_vec()));
        assert_eq!((found.ttl_s, found.stamps), (4, Some(true)));
    }

    #[test]
    fn a_long_name_is_cut_between_characters() {
        let found = parse(&compose(SOURCE, &"ä".repeat(40), "eth0", 4)).expect("a legal frame");
        assert_eq!(found.sender.0, [&[7], "ä".repeat(32).as_bytes()].concat());
    }

    #[test]
    fn an_ordinary_bridge_has_no_word_about_numbers() {
        let mut frame = [&GROUP[..], &SOURCE, &ETHERTYPE.to_be_bytes()].concat();
        push(&mut frame, CHASSIS, &[4, 2, 0, 0, 0, 0, 9]);
        push(&mut frame, PORT, b"\x05ge-0/0/1");
        push(&mut frame, TTL, &[0, 120]);
        push(&mut frame, 5, b"bridge"); // system name
        push(&mut frame, ORGANISATION, &[0, 0x12, 0x0f, 1, 3, 0]);
        push(&mut frame, END, &[]);
        let found = parse(&frame).expect("a legal frame");
        assert_eq!((found.ttl_s, found.stamps), (120, None));
    }

    #[test]
    fn what_is_cut_short_or_out_of_order_is_no_hello() {
        let frame = compose(SOURCE, "host", "eth0", 4);
        for length in 0..32 {
            assert!(parse(&frame[..length]).is_none(), "{length} bytes");
        }
        let mut swapped = frame.clone();
        swapped[14] = 4; // the port ID first
        assert!(parse(&swapped).is_none());
        let mut other = frame;
        other[13] = 0xcd;
        assert!(parse(&other).is_none());
    }

    #[test]
    fn any_bytes_are_read_without_a_crash() {
        let mut state = 1u64;
        let mut byte = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u8
        };
        for _ in 0..200_000 {
            let mut frame = compose(SOURCE, "host", "eth0", 4);
            for _ in 0..3 {
                let at = HEADER_BYTES + usize::from(byte()) % 46;
                frame[at] = byte();
            }
            frame.truncate(HEADER_BYTES + usize::from(byte()) % 47);
            let _ = parse(&frame);
        }
    }

    #[test]
    fn one_neighbour_that_stamps_proves_the_wire_until_it_falls_silent() {
        let mut neighbours = Neighbours::default();
        assert_eq!(neighbours.judge(0).0, Judgement::Unproven);
        neighbours.hear(hello("s1", Some(true)), 0);
        assert_eq!(neighbours.judge(0), (Judgement::Proven, 4 * SECOND_NS));
        assert_eq!(neighbours.judge(4 * SECOND_NS).0, Judgement::Unproven);
    }

    #[test]
    fn a_second_neighbour_or_a_foreign_one_disproves_it() {
        let mut neighbours = Neighbours::default();
        neighbours.hear(hello("s1", Some(true)), 0);
        neighbours.hear(hello("s2", Some(true)), SECOND_NS);
        assert_eq!(neighbours.judge(SECOND_NS), (Judgement::Disproved, 4 * SECOND_NS));
        assert_eq!(neighbours.judge(4 * SECOND_NS).0, Judgement::Proven); // the first is gone
        let mut neighbours = Neighbours::default();
        neighbours.hear(hello("bridge", None), 0);
        assert_eq!(neighbours.judge(0).0, Judgement::Disproved);
        neighbours.hear(Hello { ttl_s: 0, ..hello("bridge", None) }, 1);
        assert_eq!(neighbours.judge(1).0, Judgement::Unproven);
    }

    #[test]
    fn a_neighbour_that_does_not_stamp_disproves_it_until_it_does() {
        let mut neighbours = Neighbours::default();
        neighbours.hear(hello("s1", Some(false)), 0);
        assert_eq!(neighbours.judge(0), (Judgement::Disproved, 4 * SECOND_NS));
        neighbours.hear(hello("s1", Some(true)), SECOND_NS);
        assert_eq!(neighbours.judge(SECOND_NS).0, Judgement::Proven);
    }

    #[test]
    fn no_more_than_eight_are_kept() {
        let mut neighbours = Neighbours::default();
        for number in 0..100 {
            neighbours.hear(hello(&number.to_string(), Some(true)), 0);
        }
        assert_eq!(neighbours.alive.len(), NEIGHBOURS_MAX);
    }
}
