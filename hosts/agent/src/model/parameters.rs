// SPDX-License-Identifier: Apache-2.0
//! Run-time parameters of the congestion-control laws: from `--set` to `struct cc_params`.

use std::collections::BTreeMap;

use anyhow::{bail, Context, Result};
use serde::Serialize;

/// One parameter; all are unsigned 32-bit numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Parameter {
    pub name: String,
    pub default: u32,
    pub min: u32,
    pub max: u32,
    /// The laws that have it.
    pub laws: Vec<&'static str>,
    /// Byte offset in `struct cc_params`.
    #[serde(skip)]
    pub offset: usize,
}

/// Reads `KEY=VALUE` settings; later ones win. With `law` one of Clarion's, only its own parameters are legal.
pub fn parse(settings: &[String], known: &[Parameter], law: Option<&str>) -> Result<BTreeMap<String, u32>> {
    let law = law.filter(|law| known.iter().any(|parameter| parameter.laws.contains(law)));
    let is_legal = |parameter: &&Parameter| law.is_none_or(|law| parameter.laws.contains(&law));
    let mut values = BTreeMap::new();
    for setting in settings {
        let Some((key, text)) = setting.split_once('=') else {
            bail!("--set {setting}: write KEY=VALUE");
        };
        let Some(parameter) = known.iter().filter(is_legal).find(|parameter| parameter.name == key) else {
            let names: Vec<&str> =
                known.iter().filter(is_legal).map(|parameter| parameter.name.as_str()).collect();
            let whose = law.map_or(String::new(), |law| format!(" of {law}"));
            bail!("--set {key}: no such parameter{whose}; legal are {}", names.join(", "));
        };
        let (min, max) = (parameter.min, parameter.max);
        let value = text.parse::<u32>().ok().filter(|value| (min..=max).contains(value));
        let value =
            value.with_context(|| format!("--set {key}: {text:?} is not a number from {min} to {max}"))?;
        values.insert(key.to_owned(), value);
    }
    Ok(values)
}

/// The bytes of `struct cc_params` with the given values in it and defaults elsewhere.
pub fn encode(values: &BTreeMap<String, u32>, known: &[Parameter]) -> Result<Vec<u8>> {
    let mut bytes = vec![0; known.len() * size_of::<u32>()];
    for parameter in known {
        let value = values.get(&parameter.name).copied().unwrap_or(parameter.default);
        let slot = bytes.get_mut(parameter.offset..parameter.offset + size_of::<u32>());
        slot.context("struct cc_params has gaps")?.copy_from_slice(&value.to_ne_bytes());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::laws;

    fn parameter(name: &str) -> Parameter {
        let laws = laws::with_parameter(name);
        Parameter { name: name.to_owned(), default: 50, min: 1, max: 10000, laws, offset: 0 }
    }

    fn refusal(setting: &str, law: Option<&str>) -> String {
        let known = [parameter("fast_alpha_packets"), parameter("stcp_acked_per_packet")];
        match parse(&[setting.to_owned()], &known, law) {
            Ok(values) => panic!("accepted: {values:?}"),
            Err(error) => format!("{error:#}"),
        }
    }

    #[test]
    fn refusals_name_key_and_range() {
        assert!(refusal("nonsense=1", None).contains("legal are"));
        assert!(refusal("fast_alpha_packets", None).contains("write KEY=VALUE"));
        for wrong in ["ten", "-1", "0", "10001"] {
            let said = refusal(&format!("fast_alpha_packets={wrong}"), None);
            assert!(said.contains("is not a number from 1 to 10000"), "{said}");
        }
    }

    #[test]
    fn a_parameter_of_another_law_is_refused_with_the_legal_ones() {
        assert_eq!(
            refusal("fast_alpha_packets=7", Some("clarion_stcp")),
            "--set fast_alpha_packets: no such parameter of clarion_stcp; legal are stcp_acked_per_packet"
        );
        assert!(parse(&["fast_alpha_packets=7".into()], &[parameter("fast_alpha_packets")], Some("cubic"))
            .is_ok());
    }
}
