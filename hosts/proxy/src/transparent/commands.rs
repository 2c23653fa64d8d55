// SPDX-License-Identifier: Apache-2.0
//! Programs of the system that are run: `ip` and `nft`, from PATH.

use std::io;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, anyhow, bail};

/// Runs a program to its end; what it wrote.
pub fn run(program: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program)
        .args(arguments)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| not_started(program, error))?;
    if !output.status.success() {
        bail!("{program} {}: {}", arguments.join(" "), first_line(&String::from_utf8_lossy(&output.stderr)));
    }
    String::from_utf8(output.stdout).with_context(|| format!("{program} {}", arguments.join(" ")))
}

/// Why a program could not be started, with the fix.
pub fn not_started(program: &str, error: io::Error) -> anyhow::Error {
    let package = if program == "nft" { "nftables" } else { "iproute2" };
    match error.kind() {
        io::ErrorKind::NotFound => {
            anyhow!("transparent mode needs the program {program}; install the Debian package {package}")
        }
        _ => anyhow!(error).context(format!("start {program}")),
    }
}

/// What a program says first is the reason; what follows quotes its input.
pub fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("failed without a reason")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_package_of_a_missing_program() {
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        assert!(not_started("nft", missing()).to_string().ends_with("Debian package nftables"));
        assert!(not_started("ip", missing()).to_string().ends_with("Debian package iproute2"));
    }

    #[test]
    fn gives_the_first_line_of_an_error() {
        let error = run("ip", &["route", "show", "table", "nonsense"]).expect_err("refused");
        assert!(!error.to_string().contains('\n'), "{error}");
        assert!(error.to_string().starts_with("ip route show table nonsense: "), "{error}");
    }
}
