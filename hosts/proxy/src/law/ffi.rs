// SPDX-License-Identifier: Apache-2.0
//! The laws' C interface, laws/law.h. Meanings and units are there.

use std::ffi::{CStr, c_char, c_int};
use std::ptr::NonNull;

/// No rate, no round trip time, no minimum of it.
pub const NO_RATE: u64 = u64::MAX;
pub const NO_RTT: u32 = u32::MAX;
/// `STACK_INFINITE_SSTHRESH`
pub const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// `struct law_connection`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Connection {
    pub pacing_bytes_per_s: u64,
    pub cwnd: u32,
    pub ssthresh: u32,
    pub cwnd_count: u32,
    pub counts_as_limited: u32,
    pub now_us: u64,
    pub last_sent_us: u64,
    pub delivered_us: u64,
    pub cwnd_clamp: u32,
    pub mss_bytes: u32,
    pub full_len_bytes: u32,
    pub srtt_us: u32,
    pub min_rtt_us: u32,
    pub una: u32,
    pub next: u32,
    pub delivered: u32,
    pub delivered_ce: u32,
    pub lost: u32,
    pub in_flight: u32,
    pub outstanding: u32,
    pub ca_state: u8,
    pub is_open: u8,
    pub in_recovery: u8,
    pub is_cwnd_limited: u8,
    pub has_filled_window: u8,
    pub is_app_limited: u8,
    pub saw_reordering: u8,
    pub pad: u8,
}

/// `struct law_ack`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Ack {
    pub interval_us: i64,
    pub rtt_us: i64,
    pub delivered: i32,
    pub prior_delivered: u32,
    pub prior_in_flight: u32,
    pub losses: u32,
    pub acked_packets: u32,
    pub sent_in_flight: u32,
    pub lost: u32,
    pub is_app_limited: u8,
    pub has_echo: u8,
    pub pad: [u8; 2],
}

/// `struct law_lost`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Lost {
    pub sent_in_flight: u32,
    pub lost: u32,
    pub is_app_limited: u32,
}

/// `struct law_echo`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct LawEcho {
    pub reverse_feedback: u32,
    pub nr_echoes: u32,
    pub corrupt: u32,
    pub congest: u32,
    pub local_drops: u32,
    pub rev_corrupt: u16,
    pub rev_congest: u16,
    pub regulated: u8,
    pub field: u8,
    pub tags: u8,
    pub is_aware: u8,
}

/// `struct law_request`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct LawRequest {
    pub rtt: u32,
    pub x: u32,
    pub delta_throughput: i32,
    pub full_len: u32,
    pub wanted: u8,
    pub field: u8,
    pub ect1: u8,
    pub pad: u8,
}

/// `struct law_parameter`
#[repr(C)]
struct RawParameter {
    name: *const c_char,
    value: u32,
    min: u32,
    max: u32,
}

/// `struct law_description`
#[repr(C)]
struct RawDescription {
    name: *const c_char,
    host_name: *const c_char,
    prefix: *const c_char,
    form: u32,
    state_bytes: u32,
}

/// `struct law`, which only C looks into.
#[repr(C)]
struct RawLaw {
    _private: [u8; 0],
}

unsafe extern "C" {
    safe fn law_describe(index: u32) -> *const RawDescription;
    safe fn law_parameter(index: u32) -> *const RawParameter;
    safe fn law_new(index: u32, seed: u32) -> *mut RawLaw;
    fn law_clone(law: *const RawLaw) -> *mut RawLaw;
    fn law_free(law: *mut RawLaw);
    fn law_set_parameter(law: *mut RawLaw, index: u32, value: u32) -> c_int;
    fn law_get_parameter(law: *const RawLaw, index: u32) -> u32;
    fn law_hear(law: *mut RawLaw, echo: *const LawEcho);
    fn law_request(law: *const RawLaw, request: *mut LawRequest);
    fn law_reductions(law: *const RawLaw, reason: u32) -> u32;
    fn law_note_reduction(law: *mut RawLaw, reason: u32);
    fn law_start(law: *mut RawLaw, connection: *mut Connection);
    fn law_on_ack(law: *mut RawLaw, connection: *mut Connection, ack: *const Ack);
    fn law_grow(law: *mut RawLaw, connection: *mut Connection, acked: u32);
    fn law_on_acked(law: *mut RawLaw, connection: *mut Connection, packets: u32, rtt_us: i64);
    fn law_on_state(law: *mut RawLaw, connection: *mut Connection, next: u32);
    fn law_on_event(law: *mut RawLaw, connection: *mut Connection, event: u32);
    fn law_on_lost(law: *mut RawLaw, connection: *mut Connection, lost: *const Lost);
    fn law_ssthresh(law: *mut RawLaw, connection: *mut Connection) -> u32;
    fn law_undo(law: *mut RawLaw, connection: *mut Connection) -> u32;
    #[cfg(test)]
    safe fn law_layout(index: u32) -> u32;
}

/// What C says of a law.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    pub name: &'static str,
    pub host_name: &'static str,
    pub prefix: &'static str,
    pub form: u32,
}

/// What C says of a parameter.
#[derive(Clone, Copy, Debug)]
pub struct ParameterDescription {
    pub name: &'static str,
    pub default: u32,
    pub min: u32,
    pub max: u32,
}

/// # Safety
/// `text` is a string literal of C.
unsafe fn literal(text: *const c_char) -> &'static str {
    // SAFETY: as the caller says; literals live for ever. Names of laws and parameters are ASCII.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or_default()
}

/// The law of that index in the registry.
pub fn describe(index: u32) -> Option<Description> {
    let description = law_describe(index);
    // SAFETY: NULL, or an entry of C's constant table, whose names are literals.
    unsafe {
        description.as_ref().map(|raw| Description {
            name: literal(raw.name),
            host_name: literal(raw.host_name),
            prefix: literal(raw.prefix),
            form: raw.form,
        })
    }
}

/// The parameter of that index in params.def.
pub fn describe_parameter(index: u32) -> Option<ParameterDescription> {
    let parameter = law_parameter(index);
    // SAFETY: as in describe().
    unsafe {
        parameter.as_ref().map(|raw| ParameterDescription {
            name: literal(raw.name),
            default: raw.value,
            min: raw.min,
            max: raw.max,
        })
    }
}

/// One law with its parameters and its state.
#[derive(Debug)]
pub struct Law(NonNull<RawLaw>);

// SAFETY: C keeps nothing of a law outside of its object, and calls without `mut` only read it.
unsafe impl Send for Law {}
unsafe impl Sync for Law {}

impl Law {
    /// `None`: no such law, or no memory.
    pub fn new(index: u32, seed: u32) -> Option<Self> {
        NonNull::new(law_new(index, seed)).map(Self)
    }

    /// `None`: no memory.
    pub fn duplicate(&self) -> Option<Self> {
        // SAFETY: the object lives as long as `self`, here and below.
        NonNull::new(unsafe { law_clone(self.0.as_ptr()) }).map(Self)
    }

    /// False: out of the parameter's range.
    pub fn set_parameter(&mut self, index: u32, value: u32) -> bool {
        unsafe { law_set_parameter(self.0.as_ptr(), index, value) != 0 }
    }

    pub fn parameter(&self, index: u32) -> u32 {
        unsafe { law_get_parameter(self.0.as_ptr(), index) }
    }

    pub fn hear(&mut self, echo: &LawEcho) {
        unsafe { law_hear(self.0.as_ptr(), echo) }
    }

    pub fn request(&self) -> LawRequest {
        let mut request = LawRequest::default();
        unsafe { law_request(self.0.as_ptr(), &mut request) };
        request
    }

    pub fn reductions(&self, reason: u32) -> u32 {
        unsafe { law_reductions(self.0.as_ptr(), reason) }
    }

    pub fn note_reduction(&mut self, reason: u32) {
        unsafe { law_note_reduction(self.0.as_ptr(), reason) }
    }

    pub fn start(&mut self, connection: &mut Connection) {
        unsafe { law_start(self.0.as_ptr(), connection) }
    }

    pub fn on_ack(&mut self, connection: &mut Connection, ack: &Ack) {
        unsafe { law_on_ack(self.0.as_ptr(), connection, ack) }
    }

    pub fn grow(&mut self, connection: &mut Connection, acked: u32) {
        unsafe { law_grow(self.0.as_ptr(), connection, acked) }
    }

    pub fn on_acked(&mut self, connection: &mut Connection, packets: u32, rtt_us: i64) {
        unsafe { law_on_acked(self.0.as_ptr(), connection, packets, rtt_us) }
    }

    pub fn on_state(&mut self, connection: &mut Connection, next: u8) {
        unsafe { law_on_state(self.0.as_ptr(), connection, next.into()) }
    }

    pub fn on_event(&mut self, connection: &mut Connection, event: u8) {
        unsafe { law_on_event(self.0.as_ptr(), connection, event.into()) }
    }

    pub fn on_lost(&mut self, connection: &mut Connection, lost: &Lost) {
        unsafe { law_on_lost(self.0.as_ptr(), connection, lost) }
    }

    pub fn ssthresh(&mut self, connection: &mut Connection) -> u32 {
        unsafe { law_ssthresh(self.0.as_ptr(), connection) }
    }

    pub fn undo(&mut self, connection: &mut Connection) -> u32 {
        unsafe { law_undo(self.0.as_ptr(), connection) }
    }
}

impl Drop for Law {
    fn drop(&mut self) {
        // SAFETY: nobody has the pointer any more.
        unsafe { law_free(self.0.as_ptr()) }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::mem::{offset_of, size_of};

    use super::*;
    use crate::law::counters::REASONS;

    macro_rules! layout {
        ($type:ident { $($field:ident),* }) => {
            vec![size_of::<$type>(), $(offset_of!($type, $field)),*]
        };
    }

    fn of_rust() -> Vec<usize> {
        let mut all = layout!(Connection {
            pacing_bytes_per_s,
            cwnd,
            ssthresh,
            cwnd_count,
            counts_as_limited,
            now_us,
            last_sent_us,
            delivered_us,
            cwnd_clamp,
            mss_bytes,
            full_len_bytes,
            srtt_us,
            min_rtt_us,
            una,
            next,
            delivered,
            delivered_ce,
            lost,
            in_flight,
            outstanding,
            ca_state,
            is_open,
            in_recovery,
            is_cwnd_limited,
            has_filled_window,
            is_app_limited,
            saw_reordering
        });
        all.extend(layout!(Ack {
            interval_us,
            rtt_us,
            delivered,
            prior_delivered,
            prior_in_flight,
            losses,
            acked_packets,
            sent_in_flight,
            lost,
            is_app_limited,
            has_echo
        }));
        all.extend(layout!(Lost { sent_in_flight, lost, is_app_limited }));
        all.extend(layout!(LawEcho {
            reverse_feedback,
            nr_echoes,
            corrupt,
            congest,
            local_drops,
            rev_corrupt,
            rev_congest,
            regulated,
            field,
            tags,
            is_aware
        }));
        all.extend(layout!(LawRequest { rtt, x, delta_throughput, full_len, wanted, field, ect1 }));
        all.extend(layout!(RawParameter { name, value, min, max }));
        all.extend(layout!(RawDescription { name, host_name, prefix, form, state_bytes }));
        all.push(REASONS);
        all
    }

    #[test]
    fn structures_lie_as_in_c() {
        let of_c: Vec<usize> = (0..)
            .map(|index| law_layout(index))
            .take_while(|&value| value != u32::MAX)
            .map(|value| value as usize)
            .collect();
        assert_eq!(of_rust(), of_c);
    }

    #[test]
    fn a_copy_has_its_own_parameters() {
        let mut law = Law::new(0, 0).unwrap();
        let copy = law.duplicate().unwrap();
        let before = law.parameter(0);
        assert!(law.set_parameter(0, before + 1));
        assert_eq!((law.parameter(0), copy.parameter(0)), (before + 1, before));
    }
}
