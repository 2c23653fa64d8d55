// SPDX-License-Identifier: Apache-2.0
//! Attachments and the settings that they replaced, on disk before anything is changed.
//!
//! One JSON file per attached device in /run/clarion/host. The files are also the count of users of the
//! shared programs: the last one gone takes them away. All of it happens under one lock.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use nix::fcntl::{Flock, FlockArg};

use serde::{Deserialize, Serialize};

use crate::model::attachment::Attachment;

const DIRECTORY: &str = "/run/clarion/host";
const ALLOWED: &str = "allowed";
const PROGRAMS: &str = "programs";

/// Whose programs all attachments share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Programs {
    pub digest: String,
    pub agent: PathBuf,
}

/// The directory, locked against other agents until dropped.
pub struct Store {
    _lock: Flock<File>,
}

impl Store {
    pub fn lock() -> Result<Self> {
        fs::create_dir_all(DIRECTORY).with_context(|| format!("create {DIRECTORY}"))?;
        let path = Path::new(DIRECTORY).join("lock");
        let file = File::create(&path).with_context(|| format!("create {}", path.display()))?;
        let lock = Flock::lock(file, FlockArg::LockExclusive)
            .map_err(|(_, error)| error)
            .with_context(|| format!("lock {}", path.display()))?;
        Ok(Self { _lock: lock })
    }

    pub fn attachments(&self) -> Result<Vec<Attachment>> {
        read_all()
    }

    /// Writes the file whole or not at all.
    pub fn save(&self, attachment: &Attachment) -> Result<()> {
        let path = path_of(attachment);
        let fresh = path.with_extension("new");
        let text = serde_json::to_string_pretty(attachment).context("encode state")?;
        let mut file = File::create(&fresh).with_context(|| format!("create {}", fresh.display()))?;
        file.write_all(text.as_bytes()).with_context(|| format!("write {}", fresh.display()))?;
        fs::rename(&fresh, &path).with_context(|| format!("write {}", path.display()))
    }

    /// Names the agent whose programs the first attachment loads.
    pub fn save_programs(&self, programs: &Programs) -> Result<()> {
        let text = serde_json::to_string(programs).context("encode programs")?;
        let path = Path::new(DIRECTORY).join(PROGRAMS);
        fs::write(&path, text).with_context(|| format!("write {}", path.display()))
    }

    /// `None` if an agent that kept no such file has loaded them.
    pub fn programs(&self) -> Option<Programs> {
        serde_json::from_str(&fs::read_to_string(Path::new(DIRECTORY).join(PROGRAMS)).ok()?).ok()
    }

    pub fn forget_programs(&self) {
        let _ = fs::remove_file(Path::new(DIRECTORY).join(PROGRAMS)); // may not be there
    }

    /// Keeps the machine's list of allowed congestion controls as it was before the first change.
    pub fn save_allowed(&self, allowed: &str) -> Result<()> {
        let path = Path::new(DIRECTORY).join(ALLOWED);
        if path.exists() {
            return Ok(());
        }
        fs::write(&path, allowed).with_context(|| format!("write {}", path.display()))
    }

    /// The saved list, which is forgotten.
    pub fn take_allowed(&self) -> Option<String> {
        let path = Path::new(DIRECTORY).join(ALLOWED);
        let allowed = fs::read_to_string(&path).ok()?;
        fs::remove_file(&path).ok()?;
        Some(allowed)
    }

    pub fn forget(&self, attachment: &Attachment) -> Result<()> {
        let path = path_of(attachment);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(error).with_context(|| format!("remove {}", path.display()))
            }
            _ => Ok(()),
        }
    }
}

/// All attachments, without the lock: a snapshot for display.
pub fn read_all() -> Result<Vec<Attachment>> {
    let mut attachments = Vec::new();
    let entries = match fs::read_dir(DIRECTORY) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(attachments),
        Err(error) => return Err(error).with_context(|| format!("read {DIRECTORY}")),
    };
    for entry in entries {
        let path = entry.with_context(|| format!("read {DIRECTORY}"))?.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue, // detached meanwhile
            Err(error) => return Err(error).with_context(|| format!("read {}", path.display())),
        };
        let attachment = serde_json::from_str(&text)
            .with_context(|| format!("{}: not a state file of this version; remove it", path.display()))?;
        attachments.push(attachment);
    }
    attachments.sort_by_key(|attachment: &Attachment| attachment.key);
    Ok(attachments)
}

fn path_of(attachment: &Attachment) -> PathBuf {
    // A device name may hold anything but '/' and white space.
    Path::new(DIRECTORY).join(format!("{}-{}.json", attachment.netns_inode, attachment.device))
}
