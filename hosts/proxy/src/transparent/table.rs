// SPDX-License-Identifier: Apache-2.0
//! The nftables table, which dies with this process, however that dies.
//!
//! A table with `flags owner` is removed by the kernel when the netlink socket that made it is closed, and no
//! other process can change it. So it is made by an interactive `nft` whose input this process holds: the
//! input ends with this process, `nft` with its input, and the table with `nft`. The other way, `nft -f` and a record
//! for cleanup, would after kill -9 leave connections to a port where nothing listens until the next cleanup.

use std::io::{self, BufRead, BufReader, PipeReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use super::commands::not_started;
use super::rules::TABLE;

/// Asks for something that is answered without the kernel, so the answer says that all before it is done.
const QUESTION: &str = "describe meta mark";
const ANSWER: &str = "meta expression";
/// The transaction waits for other users of nftables.
const PATIENCE: Duration = Duration::from_secs(20);

pub struct Table {
    nft: Child,
    /// Held open; `None` once it is closed.
    input: Option<ChildStdin>,
    /// What has come of each line of input.
    outcomes: Receiver<Option<anyhow::Error>>,
}

impl Table {
    /// Makes the empty table. In one network namespace only one process can have it.
    pub fn claim() -> Result<Self> {
        let (output, writer) = io::pipe().context("open a pipe for nft")?;
        let mut nft = Command::new("nft")
            .arg("-i")
            .env("LC_ALL", "C")
            .env("HOME", "/nonexistent") // no history of what was typed
            // Ctrl-C is for this process, which may have connections to end first.
            .process_group(0)
            .stdin(Stdio::piped())
            // One pipe, so that an error is read before the answer that follows it.
            .stdout(writer.try_clone().context("open a pipe for nft")?)
            .stderr(writer)
            .spawn()
            .map_err(|error| not_started("nft", error))?;
        let input = nft.stdin.take();
        let mut table = Self { nft, input, outcomes: read(output) };
        table.tell(&format!("add table inet {TABLE} {{ flags owner; }}"))?;
        Ok(table)
    }

    /// Has `nft` carry out one line, as one transaction.
    pub fn tell(&mut self, line: &str) -> Result<()> {
        let Some(input) = &mut self.input else { bail!("nft has no input") };
        input
            .write_all(format!("{line}\n{QUESTION}\n").as_bytes())
            .context("nft ended before it had its rules; try `nft -i`")?;
        match self.outcomes.recv_timeout(PATIENCE) {
            Ok(None) => Ok(()),
            Ok(Some(error)) => Err(error),
            Err(RecvTimeoutError::Timeout) => bail!("nft did not answer for {} s", PATIENCE.as_secs()),
            Err(RecvTimeoutError::Disconnected) => bail!("nft ended without an answer; try `nft -i`"),
        }
    }

    /// Takes the table away, and waits until it is gone.
    pub fn close(self) {}
}

impl Drop for Table {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.nft.wait();
    }
}

/// Reads what `nft` says, until it ends, so that it can always write.
fn read(output: PipeReader) -> Receiver<Option<anyhow::Error>> {
    let (sender, outcomes) = mpsc::channel();
    thread::spawn(move || {
        let mut error = None;
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if error.is_none() {
                error = reason(&line);
            }
            if line.contains(ANSWER) {
                let _ = sender.send(error.take());
            }
        }
    });
    outcomes
}

/// The reason, if a line of output is the first one of an error; what follows it quotes the input.
fn reason(line: &str) -> Option<anyhow::Error> {
    let (_, reason) = line.split_once("Error: ")?;
    Some(match reason {
        _ if reason.contains("Operation not permitted") => anyhow!(
            "nftables table inet {TABLE} cannot be made: another clarion-proxy of this network namespace owns it, \
             which must end first, or the right CAP_NET_ADMIN is missing"
        ),
        _ if reason.contains("No such file or directory") => anyhow!(
            "the kernel lacks something for transparent mode; load its modules nft_tproxy, nft_socket, \
             nft_fib_inet and nft_reject_inet"
        ),
        _ => anyhow!("nft refuses the rules of transparent mode: {reason}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_errors_from_answers() {
        assert!(reason("meta expression, datatype mark (packet mark) (basetype integer), 32 bits").is_none());
        let shown = |line| reason(line).map(|error| error.to_string()).expect("an error");
        assert!(shown("Error: Could not process rule: Operation not permitted").contains("must end first"));
        assert!(
            shown("<stdin>:1:1-2: Error: Could not process rule: No such file or directory")
                .contains("modules")
        );
        assert!(shown("Error: syntax error, unexpected string").ends_with("syntax error, unexpected string"));
    }
}
