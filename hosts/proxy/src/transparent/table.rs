// SPDX-License-Identifier: Apache-2.0
//! The nftables table, which dies with this process, however that dies.
//!
//! A table with `flags owner` is removed by the kernel when the netlink socket that made it is closed, and nobody
//! else can change it. So it is made, in one transaction, by an interactive `nft` whose input this process holds: the
//! input ends with this process, `nft` with its input, and the table with `nft`. The other way, `nft -f` and a record
//! for cleanup, would after kill -9 leave connections to a port where nobody listens until somebody cleans up.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::commands::{first_line, not_started};

/// Asks for something that is answered without the kernel, so the answer says that all before it is done.
const QUESTION: &str = "describe meta mark";
const ANSWER: &str = "meta expression";
/// The transaction waits for other users of nftables.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a line of output is.
enum Said {
    Done,
    Error(String),
}

pub struct Table {
    nft: Child,
    /// Held open; `None` once it is closed.
    input: Option<ChildStdin>,
}

impl Table {
    /// Makes the table of this text, which is one line.
    pub fn open(text: &str) -> Result<Self> {
        let mut nft = Command::new("nft")
            .arg("-i")
            .env("LC_ALL", "C")
            .env("HOME", "/nonexistent") // no history of what was typed
            // Ctrl-C is for this process, which may have connections to end first.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| not_started("nft", error))?;
        let (input, output, errors) = (nft.stdin.take(), nft.stdout.take(), nft.stderr.take());
        let mut table = Self { nft, input };
        let (Some(output), Some(errors)) = (output, errors) else { bail!("nft has no output") };
        table.tell(text)?;
        wait(output, errors)?;
        Ok(table)
    }

    fn tell(&mut self, text: &str) -> Result<()> {
        let Some(input) = &mut self.input else { bail!("nft has no input") };
        input
            .write_all(format!("{text}\n{QUESTION}\n").as_bytes())
            .and_then(|()| input.flush())
            .context("nft ended before it had its rules; try `nft -i`")
    }

    /// Takes the table away, and waits until it is gone.
    pub fn close(self) {}
}

impl Drop for Table {
    fn drop(&mut self) {
        drop(self.input.take());
        // Output that nobody reads does not keep it: it has nothing to say any more.
        let _ = self.nft.wait();
    }
}

/// Reads what `nft` says until it has made the table, or has refused.
fn wait(output: impl Read + Send + 'static, errors: impl Read + Send + 'static) -> Result<()> {
    let (sender, said) = mpsc::channel();
    let of_errors = sender.clone();
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if line.contains(ANSWER) {
                let _ = sender.send(Said::Done);
            }
        }
    });
    thread::spawn(move || {
        for line in BufReader::new(errors).lines().map_while(Result::ok) {
            let _ = of_errors.send(Said::Error(line));
        }
    });
    match said.recv_timeout(PATIENCE) {
        Ok(Said::Done) => Ok(()),
        Ok(Said::Error(line)) => bail!("nft refuses the interception: {}", reason(&line)),
        Err(RecvTimeoutError::Timeout) => bail!("nft did not answer for {} s", PATIENCE.as_secs()),
        Err(RecvTimeoutError::Disconnected) => bail!("nft ended without a word; try `nft -i`"),
    }
}

fn reason(line: &str) -> &str {
    let line = first_line(line);
    line.strip_prefix("Error: ").unwrap_or(line)
}
