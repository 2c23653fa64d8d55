// SPDX-License-Identifier: Apache-2.0
//! Compiles the congestion-control laws of ../bpf/cc for this machine; src/law calls them.

use std::env;
use std::path::PathBuf;

const SOURCES: [&str; 5] = ["object.c", "first_form.c", "stack_form.c", "rate_form.c", "layout.c"];

fn main() {
    let crate_dir = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let laws = crate_dir.join("laws");
    let bpf = crate_dir.join("../bpf");
    println!("cargo:rerun-if-changed={}", laws.display());
    println!("cargo:rerun-if-changed={}", bpf.join("cc").display());
    println!("cargo:rerun-if-changed={}", bpf.join("flow.h").display());
    cc::Build::new()
        .std("gnu11")
        .warnings(true)
        .extra_warnings(true)
        .warnings_into_errors(true)
        .include(&laws)
        .include(&bpf)
        .files(SOURCES.iter().map(|source| laws.join(source)))
        .compile("clarion_laws");
}
