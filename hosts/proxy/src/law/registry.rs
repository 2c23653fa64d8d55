// SPDX-License-Identifier: Apache-2.0
//! The laws and their parameters by name.

use thiserror::Error;

use super::ffi::{self, Description};

/// Parameters that every law obeys here, in whichever form it is: TCP has them for those of the second.
const OF_ALL: [&str; 2] = ["initial_window_packets", "max_window_packets"];
/// Vegas is the congestion control of SCPS-TP's Vegas variant: scps has its parameters, too.
const SHARED: [(&str, &str); 1] = [("scps", "vegas")];
/// On a host a rate that is too fast for timers is left to the ACK clock. QUIC's pacer sends bursts of 2 ms, which
/// no rate is too fast for: here flows are always paced unless somebody sets it otherwise.
const DEFAULTS: [(&str, u32); 1] = [("pacing_min_gap_us", 0)];

/// How a law is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// hosts/bpf/cc/calls.h: it sets window and rate, and reads Clarion's header.
    First,
    /// hosts/bpf/cc/stack.h: it says what a loss leaves of the window, and how that grows.
    Stack,
    /// The same, and it sets window and rate.
    Rate,
}

/// A parameter of params.def; all are unsigned 32-bit numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub name: &'static str,
    pub default: u32,
    pub min: u32,
    pub max: u32,
    /// Place in params.def.
    pub(super) index: u32,
}

/// A law that can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The registry's name.
    pub name: &'static str,
    pub form: Form,
    prefix: &'static str,
    /// What it is called in the kernel or in the simulator, which is accepted as well.
    host_name: &'static str,
    pub(super) index: u32,
}

impl Entry {
    /// Whether a loss is answered as a timeout is: from the smallest window on, by slow start.
    pub(super) fn restarts_after_loss(&self) -> bool {
        self.name == "tahoe"
    }
}

/// Why a law cannot be had.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LawError {
    #[error("law: there is no law {name:?}; the laws are {}", names().join(", "))]
    UnknownLaw { name: String },
    #[error("set {key}: the law {law} has no such parameter; it has {}", joined(.law))]
    UnknownParameter { law: &'static str, key: String },
    #[error("set {key}: {value} is not a number from {min} to {max}")]
    OutOfRange { key: String, value: u32, min: u32, max: u32 },
    #[error("law: no memory for the state of {law}")]
    NoMemory { law: &'static str },
}

fn joined(law: &str) -> String {
    parameters(law).iter().map(|parameter| parameter.name).collect::<Vec<_>>().join(", ")
}

fn entry(index: u32, description: Description) -> Entry {
    let form = match description.form {
        1 => Form::First,
        2 => Form::Stack,
        _ => Form::Rate,
    };
    let Description { name, host_name, prefix, .. } = description;
    Entry { name, form, prefix, host_name, index }
}

fn entries() -> impl Iterator<Item = Entry> {
    (0..).map_while(|index| ffi::describe(index).map(|description| entry(index, description)))
}

/// The names of all laws, sorted.
pub fn names() -> Vec<&'static str> {
    let mut names: Vec<_> = entries().map(|entry| entry.name).collect();
    names.sort_unstable();
    names
}

/// The law of that name; a name of the kernel or of the simulator (`clarion_boost`) is one, too.
pub fn find(name: &str) -> Option<Entry> {
    entries().find(|entry| entry.name == name).or_else(|| entries().find(|entry| entry.host_name == name))
}

/// Does a parameter that is called `name` belong to the law with that prefix?
fn has_prefix(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('_'))
}

/// Prefixes of all laws that params.def knows, of those that are not hosted here, too.
const NOT_HOSTED: [&str; 4] = ["jetmax", "maxnet", "prague", "vcp"];

/// Whose parameter it is: the longest prefix counts. `None`: a parameter of all laws of the first form.
fn owner(name: &str) -> Option<&'static str> {
    let prefixes = entries().map(|entry| entry.prefix).chain(NOT_HOSTED);
    prefixes.filter(|prefix| has_prefix(name, prefix)).max_by_key(|prefix| prefix.len())
}

fn belongs(entry: &Entry, name: &str) -> bool {
    let shares = |prefix| SHARED.contains(&(entry.prefix, prefix));
    match owner(name) {
        Some(prefix) => prefix == entry.prefix || shares(prefix),
        None => entry.form == Form::First || OF_ALL.contains(&name),
    }
}

fn all_parameters() -> impl Iterator<Item = Parameter> {
    (0..).map_while(|index| {
        ffi::describe_parameter(index).map(|raw| {
            let ours = DEFAULTS.iter().find(|(name, _)| *name == raw.name);
            let default = ours.map_or(raw.default, |(_, value)| *value);
            Parameter { name: raw.name, default, min: raw.min, max: raw.max, index }
        })
    })
}

/// The parameters that a law has, in the order of params.def; none for a law that there is not.
pub fn parameters(name: &str) -> Vec<Parameter> {
    let Some(entry) = find(name) else { return Vec::new() };
    all_parameters().filter(|parameter| belongs(&entry, parameter.name)).collect()
}

/// The parameter of that name, whichever laws have it.
pub(super) fn parameter(name: &str) -> Option<Parameter> {
    all_parameters().find(|parameter| parameter.name == name)
}

/// Places and values of all parameters of a law with these set.
pub(super) fn settle(entry: &Entry, set: &[(String, u32)]) -> Result<Vec<(u32, u32)>, LawError> {
    let known = parameters(entry.name);
    let mut values: Vec<_> = known.iter().map(|parameter| (parameter.index, parameter.default)).collect();
    for (key, value) in set {
        let Some(place) = known.iter().position(|parameter| parameter.name == key) else {
            return Err(LawError::UnknownParameter { law: entry.name, key: key.clone() });
        };
        let Parameter { min, max, .. } = known[place];
        if !(min..=max).contains(value) {
            return Err(LawError::OutOfRange { key: key.clone(), value: *value, min, max });
        }
        values[place].1 = *value;
    }
    Ok(values)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn names_of(law: &str) -> Vec<&'static str> {
        parameters(law).iter().map(|parameter| parameter.name).collect()
    }

    #[test]
    fn the_laws_of_all_forms_are_there() {
        for name in ["boost", "xcp", "fast", "reno", "cubic", "hybla", "westwood_plus", "bbr", "bbr3", "pcc"]
        {
            assert!(names().contains(&name), "{name}");
        }
        for name in ["prague", "vcp", "jetmax", "maxnet"] {
            assert!(!names().contains(&name), "{name} needs what QUIC does not hand on");
        }
    }

    #[test]
    fn names_of_the_kernel_are_names_too() {
        assert_eq!(find("clarion_boost").map(|entry| entry.name), Some("boost"));
        assert_eq!(find("clarion_illin").map(|entry| entry.name), Some("illinois"));
        assert_eq!(find("boots"), None);
    }

    #[test]
    fn a_law_has_its_own_parameters_and_those_of_all() {
        assert!(names_of("boost").contains(&"boost_beta_q16"));
        assert!(names_of("boost").contains(&"guard_rounds"));
        assert!(!names_of("boost").contains(&"xcp_loss"));
        assert_eq!(names_of("reno"), OF_ALL);
        assert!(names_of("scps").contains(&"vegas_alpha_packets"));
        assert!(names_of("packet_pair").contains(&"keshav_new_q16"));
    }

    #[test]
    fn the_longest_prefix_owns_a_parameter() {
        assert!(names_of("westwood_mod").contains(&"westwood_mod_per_ack"));
        assert!(!names_of("westwood").contains(&"westwood_mod_per_ack"));
        assert!(names_of("westwood").contains(&"westwood_tau_ms"));
    }

    #[test]
    fn every_parameter_has_a_law_or_is_of_one_that_is_not_hosted() {
        let hosted: Vec<_> = names().into_iter().flat_map(names_of).collect();
        for parameter in all_parameters() {
            let elsewhere = NOT_HOSTED.iter().any(|prefix| has_prefix(parameter.name, prefix));
            assert!(elsewhere || hosted.contains(&parameter.name), "{}", parameter.name);
        }
    }

    #[test]
    fn settings_that_are_wrong_are_refused_with_the_fix() {
        let reno = find("reno").unwrap();
        let error = settle(&reno, &[("boost_lin_packets".to_owned(), 1)]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "set boost_lin_packets: the law reno has no such parameter; it has initial_window_packets, \
             max_window_packets"
        );
        let error = settle(&reno, &[("initial_window_packets".to_owned(), 0)]).unwrap_err();
        assert_eq!(error.to_string(), "set initial_window_packets: 0 is not a number from 1 to 10000");
    }

    #[test]
    fn a_later_setting_wins() {
        let reno = find("reno").unwrap();
        let set = [("initial_window_packets".to_owned(), 3), ("initial_window_packets".to_owned(), 4)];
        let values: Vec<_> = settle(&reno, &set).unwrap().iter().map(|(_, value)| *value).collect();
        assert_eq!(values[0], 4);
    }
}
