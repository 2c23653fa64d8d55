// SPDX-License-Identifier: Apache-2.0
//! The control socket: a process that connects gets the status as one JSON document.

use std::fs::Permissions;
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, thread};

use anyhow::{Context, Result, bail};

use super::{Observed, Status};

/// How long one who asks may take to read, or a proxy to answer: others wait meanwhile.
const PATIENCE: Duration = Duration::from_secs(2);

/// The socket, which goes with it.
pub struct Control {
    path: PathBuf,
    inode: u64,
}

impl Control {
    /// Replaces what a dead proxy left there.
    pub fn start(path: &Path, observed: Arc<Observed>) -> Result<Self> {
        refuse_taken(path)?;
        let listener = bind(path).with_context(|| {
            format!("no control socket {}; choose another path in --control", path.display())
        })?;
        let inode = fs::metadata(path).map_or(0, |metadata| metadata.ino());
        thread::Builder::new()
            .name("control".into())
            .spawn(move || serve(&listener, &observed))
            .context("thread for the control socket")?;
        Ok(Self { path: path.to_owned(), inode })
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        // Not if a successor has its own there already.
        if fs::metadata(&self.path).is_ok_and(|metadata| metadata.ino() == self.inode) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn refuse_taken(path: &Path) -> Result<()> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(()) };
    if !metadata.file_type().is_socket() {
        bail!("{} is no socket; choose another path in --control", path.display());
    }
    if UnixStream::connect(path).is_ok() {
        bail!("a proxy answers at {} already; end it or choose another path in --control", path.display());
    }
    Ok(())
}

/// Under another name first, so that no other process ever sees it with other permissions.
fn bind(path: &Path) -> io::Result<UnixListener> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let draft = path.with_extension(format!("{}", std::process::id()));
    let _ = fs::remove_file(&draft);
    let listener = UnixListener::bind(&draft)?;
    let placed =
        fs::set_permissions(&draft, Permissions::from_mode(0o600)).and_then(|()| fs::rename(&draft, path));
    if placed.is_err() {
        let _ = fs::remove_file(&draft);
    }
    placed.map(|()| listener)
}

fn serve(listener: &UnixListener, observed: &Observed) {
    for stream in listener.incoming() {
        let told = stream.and_then(|stream| tell(stream, &observed.status()));
        if let Err(error) = told {
            tracing::debug!(%error, "control socket");
            // As when there are no more file descriptors: not at once again.
            thread::sleep(Duration::from_millis(10));
        }
    }
}

fn tell(mut stream: UnixStream, status: &Status) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut document = serde_json::to_vec(status)?;
    document.push(b'\n');
    stream.write_all(&document)
}

/// The status of the proxy whose control socket that is.
pub fn ask(path: &Path) -> Result<Status> {
    let shown = path.display();
    let mut stream = UnixStream::connect(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
            anyhow::anyhow!("no proxy runs at {shown}; name its control socket with --control")
        }
        io::ErrorKind::PermissionDenied => {
            anyhow::anyhow!("no right to ask at {shown}; ask as its user, or root")
        }
        _ => anyhow::anyhow!("cannot ask at {shown}: {error}"),
    })?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut document = Vec::new();
    stream.read_to_end(&mut document).with_context(|| format!("no answer at {shown}"))?;
    serde_json::from_slice(&document)
        .with_context(|| format!("no status of a proxy at {shown}: is another version running there?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn socket(folder: &tempfile::TempDir) -> PathBuf {
        folder.path().join("run").join("proxy.sock")
    }

    fn observed() -> Arc<Observed> {
        let observed = Arc::new(Observed::default());
        observed.show(Status { role: "server".into(), pid: 7, ..Status::default() });
        observed
    }

    #[test]
    fn tells_the_status_to_each_who_asks() {
        let folder = tempfile::tempdir().expect("folder");
        let (path, observed) = (socket(&folder), observed());
        let control = Control::start(&path, observed.clone()).expect("control");
        assert_eq!(ask(&path).expect("status"), observed.status());
        observed.show(Status { pid: 8, ..Status::default() });
        assert_eq!(ask(&path).expect("status").pid, 8);
        assert_eq!(fs::metadata(&path).expect("socket").permissions().mode() & 0o777, 0o600);
        drop(control);
        assert!(!path.exists());
    }

    #[test]
    fn one_who_reads_nothing_does_not_stop_the_others() {
        let folder = tempfile::tempdir().expect("folder");
        let (path, observed) = (socket(&folder), observed());
        let _control = Control::start(&path, observed).expect("control");
        let _silent = UnixStream::connect(&path).expect("connected");
        assert_eq!(ask(&path).expect("status").pid, 7);
    }

    #[test]
    fn a_dead_proxy_s_socket_is_replaced() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("proxy.sock");
        drop(UnixListener::bind(&path).expect("socket"));
        assert!(path.exists());
        assert!(ask(&path).expect_err("no proxy").to_string().starts_with("no proxy runs at"));
        let _control = Control::start(&path, observed()).expect("control");
        assert_eq!(ask(&path).expect("status").pid, 7);
    }

    #[test]
    fn a_living_proxy_s_socket_stays() {
        let folder = tempfile::tempdir().expect("folder");
        let path = socket(&folder);
        let _control = Control::start(&path, observed()).expect("control");
        let error = Control::start(&path, Arc::default()).err().expect("refused").to_string();
        assert!(error.contains("answers at") && error.contains("--control"), "{error}");
        assert_eq!(ask(&path).expect("status").pid, 7);
    }

    #[test]
    fn another_s_file_stays() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("file");
        fs::write(&path, "mine").expect("file");
        let error = Control::start(&path, observed()).err().expect("refused").to_string();
        assert!(error.contains("is no socket"), "{error}");
        assert_eq!(fs::read(&path).expect("file"), b"mine");
    }

    #[test]
    fn a_successor_s_socket_survives_the_end_of_the_first() {
        let folder = tempfile::tempdir().expect("folder");
        let path = socket(&folder);
        let first = Control::start(&path, observed()).expect("control");
        fs::remove_file(&path).expect("removed");
        let _second = Control::start(&path, observed()).expect("control");
        drop(first);
        assert_eq!(ask(&path).expect("status").pid, 7);
    }
}
