// SPDX-License-Identifier: Apache-2.0
//! Run-time parameters of the laws. Names, defaults and ranges come from the compiled programs: members of
//! `struct cc_params`, and its read-only instances.

use std::collections::BTreeMap;

use anyhow::{bail, ensure, Context, Result};
use libbpf_rs::btf::types::{MemberAttr, Struct};
use libbpf_rs::btf::Btf;
use serde::Serialize;

use crate::kernel::bpf;

/// One parameter; all are unsigned 32-bit numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Parameter {
    pub name: String,
    pub default: u32,
    pub min: u32,
    pub max: u32,
    #[serde(skip)]
    offset: usize,
}

/// All parameters, in the order of the structure.
pub fn all() -> Result<Vec<Parameter>> {
    let btf = Btf::from_raw("cc", bpf::CC)?.context("laws without BTF")?;
    let layout = btf.type_by_name::<Struct<'_>>("cc_params").context("no struct cc_params")?;
    let defaults = instance(&btf, "default_params")?;
    let min = instance(&btf, "params_min")?;
    let max = instance(&btf, "params_max")?;
    let mut parameters = Vec::new();
    for member in layout.iter() {
        let MemberAttr::Normal { offset } = member.attr else {
            bail!("bit field in struct cc_params");
        };
        let offset = offset as usize / 8;
        let name = member.name.context("member without name")?.to_string_lossy().into_owned();
        let value = |values: &[u8]| {
            crate::kernel::netlink::read_u32(values, offset)
                .context("struct cc_params is not of 32-bit members")
        };
        parameters.push(Parameter {
            default: value(&defaults)?,
            min: value(&min)?,
            max: value(&max)?,
            name,
            offset,
        });
    }
    Ok(parameters)
}

/// Reads `KEY=VALUE` settings; later ones win.
pub fn parse(settings: &[String]) -> Result<BTreeMap<String, u32>> {
    let known = all()?;
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
pub fn encode(values: &BTreeMap<String, u32>) -> Result<Vec<u8>> {
    let known = all()?;
    let mut bytes = vec![0; known.len() * size_of::<u32>()];
    for parameter in known {
        let value = values.get(&parameter.name).copied().unwrap_or(parameter.default);
        let place = bytes.get_mut(parameter.offset..parameter.offset + size_of::<u32>());
        place.context("struct cc_params has gaps")?.copy_from_slice(&value.to_ne_bytes());
    }
    Ok(bytes)
}

pub fn show(json: bool) -> Result<()> {
    let parameters = all()?;
    if json {
        println!("{}", serde_json::to_string_pretty(&parameters).context("encode parameters")?);
        return Ok(());
    }
    println!("{:<32} {:>10} {:>10} {:>10}", "parameter", "default", "min", "max");
    for Parameter { name, default, min, max, .. } in parameters {
        println!("{name:<32} {default:>10} {min:>10} {max:>10}");
    }
    Ok(())
}

/// A read-only instance of the structure, from the object's data section.
fn instance(btf: &Btf<'_>, name: &str) -> Result<Vec<u8>> {
    let (offset, size) = bpf::rodata_variable(btf, name)?;
    let object = bpf::open(bpf::CC, "cc")?;
    let section = object.maps().find(|map| map.name().to_string_lossy().ends_with(".rodata"));
    let bytes =
        section.as_ref().and_then(|map| map.initial_value()).context("laws without read-only data")?;
    let bytes = bytes.get(offset..offset + size).context("read-only data too short")?;
    ensure!(!bytes.is_empty(), "{name} is empty");
    Ok(bytes.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(setting: &str) -> String {
        match parse(&[setting.to_owned()]) {
            Ok(values) => panic!("accepted: {values:?}"),
            Err(error) => format!("{error:#}"),
        }
    }

    #[test]
    fn refusals_name_key_and_range() {
        assert!(refusal("nonsense=1").contains("legal are"));
        assert!(refusal("fast_alpha_packets").contains("write KEY=VALUE"));
        assert!(refusal("fast_alpha_packets=ten").contains("is not a number from"));
        assert!(refusal("fast_alpha_packets=-1").contains("is not a number from"));
    }

    #[test]
    fn values_reach_their_member() {
        let values = parse(&["fast_alpha_packets=77".to_owned()]).expect("legal");
        let bytes = encode(&values).expect("bytes");
        let parameters = all().expect("parameters");
        for (parameter, word) in parameters.iter().zip(bytes.chunks_exact(4)) {
            let expected = if parameter.name == "fast_alpha_packets" { 77 } else { parameter.default };
            assert_eq!(word, expected.to_ne_bytes(), "{}", parameter.name);
        }
    }
}
