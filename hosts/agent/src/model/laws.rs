// SPDX-License-Identifier: Apache-2.0
//! The names of the congestion-control laws that Clarion brings, and which parameters each has.

/// Clarion's own: they come with the first attachment.
pub const OWN: [&str; 3] = ["clarion_boost", "clarion_fast", "clarion_xcp"];

/// The laws in the second form: lines `STACK_LAW(prefix, "name")`, `RATE_LAW(...)`, `SIMULATED_LAW(...)`.
const STACK_LAWS: &str = include_str!("../../../bpf/cc/stack_laws.def");

/// What all names of Clarion's laws begin with.
const BRAND: &str = "clarion_";

/// A law: what its parameters begin with, and what the kernel calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Law {
    pub prefix: &'static str,
    pub name: &'static str,
}

/// Clarion's own laws.
pub fn own() -> impl Iterator<Item = Law> {
    OWN.iter().map(|name| Law { prefix: name.trim_start_matches(BRAND), name })
}

/// The laws that are loaded when `--cc` names one.
pub fn on_demand() -> impl Iterator<Item = Law> {
    listed_as("STACK_LAW(").chain(listed_as("RATE_LAW("))
}

fn listed_as(kind: &str) -> impl Iterator<Item = Law> + use<'_> {
    STACK_LAWS.lines().filter_map(move |line| {
        let (prefix, rest) = line.strip_prefix(kind)?.split_once(", \"")?;
        Some(Law { prefix, name: rest.strip_suffix("\")")? })
    })
}

/// The names of all that a host can have.
pub fn names() -> Vec<&'static str> {
    own().chain(on_demand()).map(|law| law.name).collect()
}

/// The laws that have a parameter: the one whose prefix it begins with (the longest, if several do), else
/// Clarion's own, which share it.
pub fn with_parameter(parameter: &str) -> Vec<&'static str> {
    let begins = |law: &Law| parameter.strip_prefix(law.prefix).is_some_and(|rest| rest.starts_with('_'));
    let laws = own().chain(on_demand()).chain(listed_as("SIMULATED_LAW("));
    match laws.filter(begins).max_by_key(|law| law.prefix.len()) {
        Some(law) => vec![law.name],
        None => OWN.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_laws_is_read() {
        assert!(on_demand().any(|law| law == Law { prefix: "stcp", name: "clarion_stcp" }));
        assert!(on_demand().any(|law| law == Law { prefix: "prague", name: "clarion_prague" }));
        let is_entry = |line: &&str| line.starts_with("STACK_LAW(") || line.starts_with("RATE_LAW(");
        let entries = STACK_LAWS.lines().filter(is_entry).count();
        assert_eq!(on_demand().count(), entries);
        assert!(names().iter().all(|name| name.starts_with(BRAND) && name.len() <= 15), "{:?}", names());
    }

    #[test]
    fn a_parameter_belongs_to_the_law_that_it_is_named_for() {
        assert_eq!(with_parameter("stcp_decrease_q16"), ["clarion_stcp"]);
        assert_eq!(with_parameter("boost_knee"), ["clarion_boost"]);
        assert_eq!(with_parameter("westwood_plus_interval_ms"), ["clarion_westwp"]);
        assert_eq!(with_parameter("westwood_tau_ms"), ["clarion_westwd"]);
        assert_eq!(with_parameter("bbr3_ecn"), ["bbr3"]);
        assert_eq!(with_parameter("prague_rtt_ms"), ["clarion_prague"]);
        assert_eq!(with_parameter("guard_rounds"), OWN);
    }
}
