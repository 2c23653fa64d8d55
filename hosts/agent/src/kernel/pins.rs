// SPDX-License-Identifier: Apache-2.0
//! Where the shared programs and maps are pinned, so that they outlive the process that loaded them.

use std::path::{Path, PathBuf};

/// Where everything shared is pinned.
pub const PINS: &str = "/sys/fs/bpf/clarion";

pub fn pin_of(name: &str) -> PathBuf {
    Path::new(PINS).join(name)
}
