// SPDX-License-Identifier: Apache-2.0
//! The parameters that the compiled laws have: members of `struct cc_params`, and its read-only instances.

use anyhow::{bail, ensure, Context, Result};
use libbpf_rs::btf::types::{MemberAttr, Struct};
use libbpf_rs::btf::Btf;

use crate::kernel::netlink::read_u32;
use crate::kernel::objects;
use crate::model::laws;
use crate::model::parameters::Parameter;

/// All parameters, in the order of the structure.
pub fn known() -> Result<Vec<Parameter>> {
    let btf = Btf::from_raw("cc", objects::CC)?.context("laws without BTF")?;
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
        let value =
            |values: &[u8]| read_u32(values, offset).context("struct cc_params is not of 32-bit members");
        parameters.push(Parameter {
            default: value(&defaults)?,
            min: value(&min)?,
            max: value(&max)?,
            laws: laws::with_parameter(&name),
            name,
            offset,
        });
    }
    Ok(parameters)
}

/// A read-only instance of the structure, from the object's data section.
fn instance(btf: &Btf<'_>, name: &str) -> Result<Vec<u8>> {
    let (offset, size) = objects::rodata_variable(btf, name)?;
    let object = objects::open(objects::CC, "cc")?;
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
    use crate::model::parameters::{encode, parse};

    #[test]
    fn values_reach_their_member() {
        let parameters = known().expect("parameters");
        let values = parse(&["fast_alpha_packets=77".to_owned()], &parameters, None).expect("legal");
        let bytes = encode(&values, &parameters).expect("bytes");
        for (parameter, word) in parameters.iter().zip(bytes.chunks_exact(4)) {
            let expected = if parameter.name == "fast_alpha_packets" { 77 } else { parameter.default };
            assert_eq!(word, expected.to_ne_bytes(), "{}", parameter.name);
        }
    }
}
