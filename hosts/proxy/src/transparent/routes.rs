// SPDX-License-Identifier: Apache-2.0
//! Routing of marked packets to this host: rules (ip-rule(8)) and one routing table.
//!
//! No sysctl needs a change. Packets that are sent round keep, through the loopback device, the route that they were
//! sent by, so rp_filter does not see them; route_localnet is for addresses of 127.0.0.0/8, which are never
//! intercepted. For packets that came to be forwarded see `rules`.

use anyhow::Result;

use super::commands::run;
use super::family::Family;
use super::marks;

/// Routing table that delivers everything to this host; a number that no other program is known to use.
const TABLE: &str = "49575";

/// Makes rules and routes; those that are there already, of an owner whose record was lost, are kept.
pub fn make(families: &[Family]) -> Result<()> {
    for &family in families {
        let local =
            [family.option(), "route", "replace", "local", family.everything(), "dev", "lo", "table", TABLE];
        run("ip", &local)?;
        for rule in rules(family) {
            change_rule(family, "add", &rule, "File exists")?;
        }
    }
    Ok(())
}

/// Takes back what is there of them.
pub fn take_back(families: &[Family]) -> Result<()> {
    for &family in families {
        for rule in rules(family) {
            change_rule(family, "del", &rule, "No such file or directory")?;
        }
        let route =
            [family.option(), "route", "del", "local", family.everything(), "dev", "lo", "table", TABLE];
        unless(
            run("ip", &route),
            &["No such process", "FIB table does not exist", "No such file or directory"],
        )?;
    }
    Ok(())
}

/// Numbers before 1000, where administrators and other programs usually begin.
fn rules(family: Family) -> Vec<Vec<String>> {
    let to_proxy =
        |preference: &str, mark: u32| words(&format!("pref {preference} fwmark {mark:#x} lookup {TABLE}"));
    let mut rules = vec![to_proxy("91", marks::LOCAL), to_proxy("92", marks::FORWARDED)];
    if family == Family::Ipv4 {
        // With rp_filter and src_valid_mark (which wg-quick sets) the kernel asks for the way back to the source
        // with the packet's mark, as if this host sent to it. It must not be told that the source is here.
        rules.insert(0, words(&format!("pref 90 iif lo fwmark {:#x} lookup main", marks::FORWARDED)));
    }
    rules
}

fn change_rule(family: Family, verb: &str, rule: &[String], harmless: &str) -> Result<()> {
    let arguments: Vec<&str> =
        [family.option(), "rule", verb].into_iter().chain(rule.iter().map(String::as_str)).collect();
    unless(run("ip", &arguments), &[harmless])
}

/// An error of these is none.
fn unless(done: Result<String>, harmless: &[&str]) -> Result<()> {
    match done {
        Err(error) if !harmless.iter().any(|text| error.to_string().contains(text)) => Err(error),
        _ => Ok(()),
    }
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}
