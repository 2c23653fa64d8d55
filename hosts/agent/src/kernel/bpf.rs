// SPDX-License-Identifier: Apache-2.0
//! The embedded BPF objects: opening them, and loading what all attachments share.

use std::fs;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure, Context, Result};
use libbpf_rs::btf::types::{DataSec, Var};
use libbpf_rs::btf::{Btf, BtfType};
use libbpf_rs::{AsRawLibbpf, Object, ObjectBuilder, OpenObject, PrintLevel};
use nix::mount::{mount, MsFlags};
use nix::sys::statfs::{statfs, BPF_FS_MAGIC};

use crate::kernel::cc;
use crate::kernel::maps::{pin_of, PINS};

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
pub static CC: &[u8] = object!("cc.o");

const BPF_MOUNT: &str = "/sys/fs/bpf";
const HANDSHAKE_LINK: &str = "handshake";

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

/// Loads and pins maps, handshake and congestion-control laws, unless they are.
pub fn load_shared() -> Result<()> {
    mount_bpf()?;
    fs::create_dir_all(PINS).with_context(|| format!("create {PINS}"))?;
    load_handshake().and_then(|()| cc::register())
}

/// Takes away all that [`load_shared`] made. Sockets that use a law keep it until they close.
pub fn unload_shared() -> Result<()> {
    cc::unregister();
    match fs::remove_dir_all(PINS) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            // bpffs does not let a directory be opened for removal on some kernels: one by one.
            for entry in fs::read_dir(PINS).into_iter().flatten().flatten() {
                let _ = fs::remove_file(entry.path());
            }
            fs::remove_dir(PINS).with_context(|| format!("remove {PINS}"))
        }
        _ => Ok(()),
    }
}

fn load_handshake() -> Result<()> {
    if pin_of(HANDSHAKE_LINK).exists() {
        return Ok(());
    }
    let cgroup = fs::File::open(cgroup_root()?).context("open the cgroup2 root")?;
    let object = load(open(HANDSHAKE, "handshake")?, "handshake")?;
    let program = object.progs_mut().next().context("handshake without program")?;
    let mut link =
        program.attach_cgroup(cgroup.as_raw_fd()).context("attach the handshake to the cgroup2 root")?;
    link.pin(pin_of(HANDSHAKE_LINK)).context("pin the handshake")
}

fn mount_bpf() -> Result<()> {
    fs::create_dir_all(BPF_MOUNT).with_context(|| format!("create {BPF_MOUNT}"))?;
    if statfs(BPF_MOUNT).with_context(|| format!("statfs {BPF_MOUNT}"))?.filesystem_type() == BPF_FS_MAGIC {
        return Ok(());
    }
    mount(Some("bpf"), BPF_MOUNT, Some("bpf"), MsFlags::empty(), None::<&str>)
        .with_context(|| format!("mount a BPF file system on {BPF_MOUNT}"))
}

/// Where the cgroup2 tree is mounted: every process of the machine is below its root.
fn cgroup_root() -> Result<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").context("read /proc/self/mounts")?;
    find_cgroup2(&mounts).context("no cgroup2 tree mounted: mount -t cgroup2 none /sys/fs/cgroup/unified")
}

fn find_cgroup2(mounts: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let mut words = line.split(' ');
        let (_, place, kind) = (words.next()?, words.next()?, words.next()?);
        (kind == "cgroup2").then(|| Path::new(place).to_path_buf())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_cgroup2_tree() {
        let hybrid =
            "cgroup /sys/fs/cgroup/cpu cgroup rw 0 0\ncgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        assert_eq!(find_cgroup2(hybrid), Some(PathBuf::from("/sys/fs/cgroup/unified")));
        assert_eq!(find_cgroup2("proc /proc proc rw 0 0\n"), None);
    }

    #[test]
    fn finds_read_only_variables() {
        let btf = Btf::from_raw("shim", SHIM).expect("BTF").expect("BTF in the object");
        let (_, size) = rodata_variable(&btf, "netns_cookie").expect("variable");
        assert_eq!(size, 8);
        assert!(rodata_variable(&btf, "no_such").is_err());
    }
}
