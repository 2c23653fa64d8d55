// SPDX-License-Identifier: Apache-2.0
//! The embedded BPF objects: opening, setting and loading them.

use std::hash::{DefaultHasher, Hash, Hasher};

use anyhow::{bail, ensure, Context, Result};
use libbpf_rs::btf::types::{DataSec, Var};
use libbpf_rs::btf::{Btf, BtfType};
use libbpf_rs::{AsRawLibbpf, Object, ObjectBuilder, OpenObject, PrintLevel};

use crate::kernel::pins::PINS;

/// Gives the object bytes the alignment that reading them as ELF needs.
#[repr(C, align(8))]
struct Aligned<T: ?Sized>(T);

macro_rules! object {
    ($name:literal) => {{
        static OBJECT: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/", $name)));
        &OBJECT.0
    }};
}

pub static HANDSHAKE: &[u8] = object!("handshake.o");
pub static SHIM: &[u8] = object!("shim.o");
pub static STATS: &[u8] = object!("stats.o");
pub static DECISIONS: &[u8] = object!("decisions.o");
pub static LOCAL: &[u8] = object!("local.o");
pub static CC: &[u8] = object!("cc.o");
pub static STACK_LAWS: &[u8] = object!("stack_laws.o");

/// A number that differs between agents whose programs differ.
pub fn digest() -> String {
    let mut hasher = DefaultHasher::new();
    for object in [HANDSHAKE, SHIM, STATS, DECISIONS, LOCAL, CC, STACK_LAWS] {
        object.hash(&mut hasher);
    }
    format!("{:016x}", hasher.finish())
}

/// Drops libbpf's own messages, or shows them on stderr.
pub fn quiet(quiet: bool) {
    libbpf_rs::set_print((!quiet).then_some((PrintLevel::Debug, |_, text| eprint!("{text}"))));
}

pub fn open(object: &[u8], name: &str) -> Result<OpenObject> {
    ObjectBuilder::default()
        .name(name)
        .and_then(|builder| builder.pin_root_path(PINS))
        .and_then(|builder| builder.open_memory(object))
        .with_context(|| format!("open the BPF object {name}"))
}

pub fn load(object: OpenObject, name: &str) -> Result<Object> {
    object.load().with_context(|| {
        format!("load the BPF object {name} (details: --verbose; after an update: detach --all first)")
    })
}

/// Sets a read-only variable of an object that is not loaded yet.
pub fn set_rodata(object: &mut OpenObject, name: &str, value: &[u8]) -> Result<()> {
    let (offset, size) = {
        // SAFETY: the pointer is that of an open object, which outlives the BTF here.
        let btf = Btf::from_bpf_object(unsafe { object.as_libbpf_object().as_ref() })?;
        let btf = btf.context("object without BTF")?;
        rodata_variable(&btf, name)?
    };
    ensure!(size == value.len(), "read-only variable {name} has {size} bytes");
    for mut map in object.maps_mut() {
        if map.name().to_string_lossy().ends_with(".rodata") {
            let data = map.initial_value_mut().context("read-only data without value")?;
            data.get_mut(offset..offset + size).context("read-only data too short")?.copy_from_slice(value);
            return Ok(());
        }
    }
    bail!("object without read-only data")
}

/// Offset and size of a variable in `.rodata`.
pub fn rodata_variable(btf: &Btf<'_>, name: &str) -> Result<(usize, usize)> {
    let section = btf.type_by_name::<DataSec<'_>>(".rodata").context("no .rodata in BTF")?;
    for entry in section.iter() {
        let variable = btf.type_by_id::<BtfType<'_>>(entry.ty).context("variable without type")?;
        if Var::try_from(variable).is_ok_and(|_| variable.name().is_some_and(|own| own == name)) {
            return Ok((entry.offset as usize, entry.size));
        }
    }
    bail!("no read-only variable {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_read_only_variables() {
        let btf = Btf::from_raw("shim", SHIM).expect("BTF").expect("BTF in the object");
        let (_, size) = rodata_variable(&btf, "netns_cookie").expect("variable");
        assert_eq!(size, 8);
        assert!(rodata_variable(&btf, "no_such").is_err());
    }
}
