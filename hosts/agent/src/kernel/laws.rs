// SPDX-License-Identifier: Apache-2.0
//! The congestion-control laws: their registration with the kernel.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;

use anyhow::{anyhow, bail, Context, Result};
use libbpf_rs::btf::types::{FuncProto, Ptr, Struct};
use libbpf_rs::btf::{Btf, BtfType};
use libbpf_rs::query::MapInfoIter;
use libbpf_rs::{MapCore, MapHandle, MapType, ReferencesType};

use crate::kernel::pins::{pin_of, PINS};
use crate::kernel::{objects, sysctl};
use crate::model::laws;

/// Registers Clarion's own laws, all anew if one is missing, so that any socket can choose one by
/// TCP_CONGESTION.
pub fn register_own() -> Result<()> {
    if laws::OWN.iter().all(|law| is_registered(law)) {
        return Ok(());
    }
    unregister();
    register(objects::CC, "cc", &laws::OWN)
}

/// Registers a law of the second form, beside those that are, unless it is. Other names are left alone.
pub fn register_on_demand(name: &str) -> Result<()> {
    if is_registered(name) || laws::on_demand().all(|law| law.name != name) {
        return Ok(());
    }
    unregister_one(name);
    register(objects::STACK_LAWS, "stack_laws", &[name])
}

fn is_registered(law: &str) -> bool {
    pin_of(law).exists() && is_available(law)
}

/// Registers the named laws of an object; its others are not even loaded.
fn register(object: &[u8], object_name: &str, wanted: &[&str]) -> Result<()> {
    let mut object = objects::open(object, object_name)?;
    let is_other = |name: &str| !wanted.contains(&name);
    for mut map in object.maps_mut() {
        if map.map_type() == MapType::StructOps && is_other(&map.name().to_string_lossy()) {
            map.set_autocreate(false)?;
        }
    }
    let has_ack = u8::from(cong_control_has_ack()?);
    objects::set_rodata(&mut object, "cong_control_has_ack", &[has_ack])?;
    let mut object = objects::load(object, object_name)
        .with_context(|| format!("this kernel cannot host {}", wanted.join(", ")))?;
    for mut map in object.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        if !is_other(&name) {
            // Pinned first, so that a registered law can always be found again.
            map.pin(pin_of(&name)).with_context(|| format!("pin {name}"))?;
            let mut link = map.attach_struct_ops().map_err(|error| refusal(&name, error))?;
            link.disconnect(); // the law stays registered after this process ends
        }
    }
    Ok(())
}

/// Unregisters all laws and removes their pins, whatever state they are in.
pub fn unregister() {
    for law in laws::names() {
        unregister_one(law);
    }
}

fn unregister_one(law: &str) {
    if let Ok(map) = MapHandle::from_pinned_path(pin_of(law)) {
        let _ = map.delete(&0u32.to_ne_bytes()); // fails if it was pinned but not registered yet
    }
    let _ = fs::remove_file(pin_of(law));
}

/// Unregisters laws that have no pin in any mount namespace, as after its removal by hand.
pub fn unregister_orphans() {
    let ours = laws::names();
    for info in MapInfoIter::default() {
        let name = info.name.to_string_lossy();
        if info.ty == MapType::StructOps && ours.contains(&&*name) && process_with_pin(&name).is_none() {
            if let Ok(map) = MapHandle::from_map_id(info.id) {
                let _ = map.delete(&0u32.to_ne_bytes());
            }
        }
    }
}

/// Why a law cannot be registered. Its name is global to the kernel, its pin belongs to one mount namespace,
/// which may be that of a container.
fn refusal(law: &str, error: libbpf_rs::Error) -> anyhow::Error {
    if error.kind() != libbpf_rs::ErrorKind::AlreadyExists {
        return anyhow!(error).context(format!("register {law}"));
    }
    match process_with_pin(law) {
        Some(process) => anyhow!(
            "{law} belongs to the clarion-host of another mount namespace, that of process {process}: \
             attach there, or detach there first"
        ),
        None => anyhow!("{law} is registered, but its pin is gone: clarion-host detach --all unregisters it"),
    }
}

/// Id and name of a process in another mount namespace, with a BPF file system that holds the pin of a law.
fn process_with_pin(law: &str) -> Option<String> {
    let pin = pin_of(law);
    let in_process = pin.strip_prefix("/").ok()?;
    let own_filesystem = fs::metadata(PINS).map(|pins| pins.dev()).ok();
    let mut seen = HashSet::new();
    for entry in fs::read_dir("/proc").ok()?.flatten() {
        let process = entry.path();
        let (Ok(_), Ok(namespace)) =
            (fs::read_link(process.join("exe")), fs::read_link(process.join("ns/mnt")))
        else {
            continue; // not a process, a kernel thread, or a process that has ended
        };
        if !seen.insert(namespace) {
            continue;
        }
        let found = fs::metadata(process.join("root").join(in_process));
        if found.is_ok_and(|pin| Some(pin.dev()) != own_filesystem) {
            let name = fs::read_to_string(process.join("comm")).unwrap_or_default();
            return Some(format!("{} ({})", entry.file_name().to_string_lossy(), name.trim_end()));
        }
    }
    None
}

/// Fails for a name that neither the kernel nor this agent provides; called before anything is changed.
pub fn check(name: &str) -> Result<()> {
    let ours = laws::names();
    if ours.contains(&name) || is_available(name) {
        return Ok(());
    }
    let kernel = sysctl::read(sysctl::AVAILABLE).unwrap_or_default();
    let kernel: Vec<&str> = kernel.split(' ').filter(|other| !ours.contains(other)).collect();
    bail!(
        "--cc {name}: unknown; legal are {} (kernel, after `modprobe tcp_{name}` perhaps more) and {}",
        kernel.join(", "),
        ours.join(", ")
    )
}

fn is_available(name: &str) -> bool {
    // Reading the list does not load modules; looking the name up by writing would change the setting.
    sysctl::read(sysctl::AVAILABLE).is_ok_and(|list| list.split(' ').any(|other| other == name))
}

/// Whether the kernel's `cong_control` has the arguments `ack` and `flag`, as it does since 6.10.
fn cong_control_has_ack() -> Result<bool> {
    let btf = Btf::from_vmlinux().context("kernel BTF")?;
    let ops = btf
        .type_by_name::<Struct<'_>>("tcp_congestion_ops")
        .context("no tcp_congestion_ops in kernel BTF")?;
    let member = ops
        .iter()
        .find(|member| member.name.is_some_and(|name| name == "cong_control"))
        .context("no cong_control in kernel BTF")?;
    let member = btf.type_by_id::<BtfType<'_>>(member.ty).context("cong_control without type")?;
    let function = Ptr::try_from(member).ok().context("cong_control is not a pointer")?.referenced_type();
    let function = FuncProto::try_from(function).ok().context("cong_control is not a function")?;
    Ok(function.len() == 4)
}
