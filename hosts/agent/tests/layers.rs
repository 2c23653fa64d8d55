// SPDX-License-Identifier: Apache-2.0
//! The layers of the agent: model <- kernel <- operations <- command line. A module names its own layer and
//! those below it; inside a layer no circle of modules is allowed; only the command line knows clap.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Lowest first; `main` starts the command line.
const LAYERS: [&str; 5] = ["model", "kernel", "operations", "cli", "main"];

type Imports = BTreeMap<String, BTreeSet<String>>;

/// `kernel::tc` for `src/kernel/tc.rs`, `cli` for `src/cli.rs`.
fn module_of(file: &Path, sources: &Path) -> String {
    let inside = file.strip_prefix(sources).expect("a file below src").with_extension("");
    let names: Vec<_> = inside.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    names.join("::").trim_end_matches("::mod").to_owned()
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let nested = entries.map(|path| if path.is_dir() { files_below(&path) } else { vec![path] });
    nested.flatten().collect()
}

/// Layer and module of each path that begins with `crate::`: `crate::kernel::{maps, tc}` names two.
fn imports_of(source: &str) -> BTreeSet<String> {
    let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code: String = code.collect::<Vec<_>>().join(" ");
    assert!(!code.replace("use super::*;", "").contains("super::"), "write crate::LAYER::..., not super::");
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        let layer: String = rest.chars().take_while(|c| is_name(*c)).collect();
        assert!(!layer.is_empty(), "write crate::LAYER::..., one layer per import: crate::{rest:.40}");
        let inner = rest[layer.len()..].strip_prefix("::").unwrap_or("");
        let group = inner.strip_prefix('{').and_then(|list| list.split('}').next());
        for entry in group.unwrap_or(inner).split(if group.is_some() { ',' } else { '\0' }) {
            let module: String = entry.trim().chars().take_while(|c| is_name(*c)).collect();
            found.insert(format!("{layer}::{module}"));
        }
    }
    found
}

fn all_imports() -> Imports {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut imports = Imports::new();
    for file in files_below(&sources) {
        let source = fs::read_to_string(&file).expect("a source file");
        imports.insert(module_of(&file, &sources), imports_of(&source));
    }
    imports
}

fn rank(module: &str) -> usize {
    let layer = module.split("::").next().unwrap_or("");
    let found = LAYERS.iter().position(|known| *known == layer);
    found.unwrap_or_else(|| panic!("{module}: no layer of {LAYERS:?}"))
}

fn upward(imports: &Imports) -> Vec<String> {
    let pairs = imports.iter().flat_map(|(module, names)| names.iter().map(move |name| (module, name)));
    pairs.filter(|(module, name)| rank(name) > rank(module)).map(|(m, n)| format!("{m} -> {n}")).collect()
}

/// Modules that reach themselves by imports inside their layer.
fn circular(imports: &Imports) -> Vec<String> {
    let reached = |start: &String| {
        let mut open: Vec<&String> = imports[start].iter().collect();
        let mut seen = BTreeSet::new();
        while let Some(module) = open.pop() {
            if seen.insert(module) {
                open.extend(imports.get(module).into_iter().flatten());
            }
        }
        seen.contains(start)
    };
    imports.keys().filter(|module| reached(module)).cloned().collect()
}

#[test]
fn no_module_names_a_layer_above_it() {
    assert_eq!(upward(&all_imports()), Vec::<String>::new());
}

#[test]
fn no_circle_of_modules() {
    assert_eq!(circular(&all_imports()), Vec::<String>::new());
}

#[test]
fn only_the_command_line_knows_clap() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut knowing = Vec::new();
    for file in files_below(&sources) {
        if fs::read_to_string(&file).expect("a source file").contains("clap::") {
            knowing.push(module_of(&file, &sources));
        }
    }
    assert_eq!(knowing, ["cli"]);
}

#[test]
fn sees_planted_faults() {
    let planted = |sources: &[(&str, &str)]| -> Imports {
        sources.iter().map(|(module, source)| ((*module).to_owned(), imports_of(source))).collect()
    };
    let climbing = planted(&[("kernel::tc", "use crate::kernel::maps;\nuse crate::cli::Cli;")]);
    assert_eq!(upward(&climbing), ["kernel::tc -> cli::Cli"]);
    let inline = planted(&[("model::flow", "let name = crate::operations::store::read_all();")]);
    assert_eq!(upward(&inline), ["model::flow -> operations::store"]);
    let circle = planted(&[
        ("kernel::a", "use crate::kernel::{b, c};"),
        ("kernel::b", "use crate::kernel::c::Thing;"),
        ("kernel::c", "// use crate::model::record;\nuse crate::kernel::a;"),
    ]);
    assert_eq!(circular(&circle), ["kernel::a", "kernel::b", "kernel::c"]);
    assert_eq!(upward(&circle), Vec::<String>::new());
}
