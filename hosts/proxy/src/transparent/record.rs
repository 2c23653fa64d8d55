// SPDX-License-Identifier: Apache-2.0
//! What an interception has changed and who owns it, on disk before anything is changed.
//!
//! One JSON file per network namespace; all of it happens under one lock.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};

use super::family::Family;
use super::namespace::Namespace;
use super::owner::Owner;

/// Other files of the directory are other programs'.
const PREFIX: &str = "tproxy-";
const SUFFIX: &str = ".json";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    pub netns_inode: u64,
    pub owner: Owner,
    /// For which there are, or soon will be, rules and routes.
    pub families: Vec<Family>,
}

impl Record {
    pub fn new(namespace: &Namespace, families: &[Family]) -> Result<Self> {
        Ok(Self { netns_inode: namespace.inode(), owner: Owner::this()?, families: families.to_vec() })
    }
}

/// The directory, locked against other proxies until dropped.
pub struct Store {
    directory: PathBuf,
    _lock: Flock<File>,
}

impl Store {
    pub fn lock(directory: &Path) -> Result<Self> {
        fs::create_dir_all(directory).with_context(|| format!("create {}", directory.display()))?;
        let path = directory.join("tproxy.lock");
        let file = File::create(&path).with_context(|| format!("create {}", path.display()))?;
        let lock = Flock::lock(file, FlockArg::LockExclusive)
            .map_err(|(_, error)| error)
            .with_context(|| format!("lock {}", path.display()))?;
        Ok(Self { directory: directory.to_owned(), _lock: lock })
    }

    /// The record of a namespace, if it has one.
    pub fn read(&self, netns_inode: u64) -> Result<Option<Record>> {
        read(&self.path_of(netns_inode))
    }

    pub fn all(&self) -> Result<Vec<Record>> {
        let mut records = Vec::new();
        let entries =
            fs::read_dir(&self.directory).with_context(|| format!("read {}", self.directory.display()))?;
        for entry in entries {
            let name = entry.with_context(|| format!("read {}", self.directory.display()))?.file_name();
            let is_record =
                name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
            if is_record {
                records.extend(read(&self.directory.join(name))?);
            }
        }
        records.sort_by_key(|record| record.netns_inode);
        Ok(records)
    }

    /// Writes the file whole or not at all.
    pub fn save(&self, record: &Record) -> Result<()> {
        let path = self.path_of(record.netns_inode);
        let fresh = path.with_extension("new");
        let text = serde_json::to_string_pretty(record).context("encode state")?;
        let mut file = File::create(&fresh).with_context(|| format!("create {}", fresh.display()))?;
        file.write_all(text.as_bytes()).with_context(|| format!("write {}", fresh.display()))?;
        fs::rename(&fresh, &path).with_context(|| format!("write {}", path.display()))
    }

    pub fn forget(&self, netns_inode: u64) -> Result<()> {
        let path = self.path_of(netns_inode);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(error).with_context(|| format!("remove {}", path.display()))
            }
            _ => Ok(()),
        }
    }

    fn path_of(&self, netns_inode: u64) -> PathBuf {
        self.directory.join(format!("{PREFIX}{netns_inode}{SUFFIX}"))
    }
}

fn read(path: &Path) -> Result<Option<Record>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("read {}", path.display())),
    };
    serde_json::from_str(&text)
        .with_context(|| format!("{}: not a state file of this version; remove it", path.display()))
        .map(Some)
}
