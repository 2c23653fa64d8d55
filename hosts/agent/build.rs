// SPDX-License-Identifier: Apache-2.0
//! Compiles the BPF programs of ../bpf; the agent embeds the objects.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use libbpf_cargo::SkeletonBuilder;

/// Source below `hosts/bpf` and name of the object that the agent includes.
const OBJECTS: [(&str, &str); 7] = [
    ("handshake.bpf.c", "handshake.o"),
    ("shim.bpf.c", "shim.o"),
    ("stats.bpf.c", "stats.o"),
    ("decisions.bpf.c", "decisions.o"),
    ("local.bpf.c", "local.o"),
    ("cc/cc.bpf.c", "cc.o"),
    ("cc/stack_laws.bpf.c", "stack_laws.o"),
];

fn main() -> Result<()> {
    let bpf = PathBuf::from(env::var("CARGO_MANIFEST_DIR").context("CARGO_MANIFEST_DIR")?).join("../bpf");
    let out = PathBuf::from(env::var("OUT_DIR").context("OUT_DIR")?);
    for (source, object) in OBJECTS {
        SkeletonBuilder::new()
            .source(bpf.join(source))
            .obj(out.join(object))
            .clang_args(clang_args(&bpf)?)
            .build()
            .with_context(|| format!("hosts/bpf/{source} (needs clang 14 or newer)"))?;
    }
    println!("cargo:rerun-if-changed={}", bpf.display());
    Ok(())
}

fn clang_args(bpf: &Path) -> Result<Vec<String>> {
    let mut args: Vec<String> =
        ["-g", "-O2", "-mcpu=v3", "-Wall", "-Wextra", "-Werror"].map(String::from).to_vec();
    args.push(format!("-I{}", bpf.display()));
    // The same objects from the same sources, wherever they lie: agents compare them.
    args.push(format!("-ffile-prefix-map={}=/hosts/bpf", bpf.display()));
    // Debian and Ubuntu keep <asm/types.h> in a directory that clang does not search for this target.
    let arch = env::var("CARGO_CFG_TARGET_ARCH").context("CARGO_CFG_TARGET_ARCH")?;
    let multiarch = format!("/usr/include/{arch}-linux-gnu");
    if Path::new(&multiarch).is_dir() {
        args.push(format!("-I{multiarch}"));
    }
    Ok(args)
}
