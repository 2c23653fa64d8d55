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
    /// Byte offset in `struct cc_params`.
    #[serde(skip)]
    pub offset: usize,
}

/// Reads `KEY=VALUE` settings; later ones win.
pub fn parse(settings: &[String], known: &[Parameter]) -> Result<BTreeMap<String, u32>> {
    let mut values = BTreeMap::new();
    for setting in settings {
        let Some((key, text)) = setting.split_once('=') else {
            bail!("--set {setting}: write KEY=VALUE");
        };
        let Some(parameter) = known.iter().find(|parameter| parameter.name == key) else {
            let names: Vec<&str> = known.iter().map(|parameter| parameter.name.as_str()).collect();
            bail!("--set {key}: no such parameter; legal are {}", names.join(", "));
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

    fn refusal(setting: &str) -> String {
        let alpha =
            Parameter { name: "fast_alpha_packets".to_owned(), default: 50, min: 1, max: 10000, offset: 0 };
        match parse(&[setting.to_owned()], &[alpha]) {
            Ok(values) => panic!("accepted: {values:?}"),
            Err(error) => format!("{error:#}"),
        }
    }

    #[test]
    fn refusals_name_key_and_range() {
        assert!(refusal("nonsense=1").contains("legal are"));
        assert!(refusal("fast_alpha_packets").contains("write KEY=VALUE"));
        assert!(refusal("fast_alpha_packets=ten").contains("is not a number from 1 to 10000"));
        assert!(refusal("fast_alpha_packets=-1").contains("is not a number from 1 to 10000"));
        assert!(refusal("fast_alpha_packets=0").contains("is not a number from 1 to 10000"));
        assert!(refusal("fast_alpha_packets=10001").contains("is not a number from 1 to 10000"));
    }
}
