// SPDX-License-Identifier: Apache-2.0
//! The command line.

use anyhow::Result;
use clap::{Args, Parser, Subcommand, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::kernel::{bpf, params, preconditions};
use crate::operations::{attach, list, restore, stats};

/// Makes Linux hosts Clarion senders and shows what their flows do.
#[derive(Parser)]
#[command(version)]
pub struct Cli {
    /// Print what libbpf says while it loads the programs
    #[arg(long, global = true)]
    verbose: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Attach the header shim to a device, and prepare its network namespace
    Attach(AttachArgs),
    /// Take the shim off and put the device back as it was
    Detach(DetachArgs),
    /// Show the attached devices and their counters
    List(OutputArgs),
    /// Show every flow of the attached namespaces
    Stats(StatsArgs),
    /// Show the run-time parameters of the congestion-control laws, their ranges and defaults
    Params(OutputArgs),
}

/// Which device, in which namespace.
#[derive(Args, Clone)]
pub struct Target {
    /// Network namespace: a name under /run/netns, or pid:1234; the current one if not given
    #[arg(long)]
    pub netns: Option<String>,
    /// Network device in that namespace
    #[arg(long)]
    pub dev: String,
}

#[derive(Args)]
pub struct AttachArgs {
    #[command(flatten)]
    pub target: Target,
    /// Congestion control of the namespace: clarion_xcp, clarion_boost, clarion_fast, or one of the
    /// kernel's; left as it is if not given
    #[arg(long)]
    pub cc: Option<String>,
    /// Ask for loss causes on what this host sends
    #[arg(long, value_enum, default_value_t = Switch::On)]
    pub tags: Switch,
    /// Where the room for the header comes from: raise the device MTU, or shrink what the routes let through
    #[arg(long, value_enum, default_value_t = Room::Raise)]
    pub room: Room,
    /// Parameter of the laws for this namespace (see `clarion-host params`); may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// IP protocol number of the header; the same on all hosts and switches
    #[arg(long, default_value_t = 253, value_parser = clap::value_parser!(u8).range(1..=254))]
    pub protocol: u8,
}

#[derive(Args)]
pub struct DetachArgs {
    /// Network namespace: a name under /run/netns, or pid:1234; the current one if not given
    #[arg(long, conflicts_with_all = ["all", "lost"])]
    pub netns: Option<String>,
    /// Network device in that namespace
    #[arg(long, required_unless_present_any = ["all", "lost"], conflicts_with_all = ["all", "lost"])]
    pub dev: Option<String>,
    /// Every attachment of this machine, and whatever is left of ones that went wrong
    #[arg(long, conflicts_with = "lost")]
    pub all: bool,
    /// Forget the attachments whose namespace or device is gone; living ones stay
    #[arg(long)]
    pub lost: bool,
}

#[derive(Args)]
pub struct OutputArgs {
    /// Machine-readable output
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct StatsArgs {
    /// Machine-readable output: one JSON object per sample and line
    #[arg(long)]
    pub json: bool,
    /// Go on sampling with this period, until SIGTERM or SIGINT
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub interval_ms: Option<u64>,
    /// Stop after this many seconds
    #[arg(long, requires = "interval_ms", value_parser = clap::value_parser!(u64).range(1..))]
    pub duration_s: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    On,
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Room {
    Raise,
    Route,
}

impl Cli {
    pub fn run(self) -> Result<()> {
        bpf::quiet(!self.verbose);
        if let Command::Params(args) = self.command {
            return params::show(args.json); // reads only what is embedded
        }
        preconditions::check()?;
        match self.command {
            Command::Attach(args) => attach::attach(&args),
            Command::Detach(args) if args.all => restore::detach_all(),
            Command::Detach(args) if args.lost => restore::detach_lost(),
            Command::Detach(args) => {
                restore::detach(args.netns.as_deref(), args.dev.as_deref().unwrap_or(""))
            }
            Command::List(args) => list::list(args.json),
            Command::Stats(args) => stats::run(&args),
            Command::Params(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detach(arguments: &[&str]) -> Option<DetachArgs> {
        let line = ["clarion-host", "detach"].iter().chain(arguments);
        match Cli::try_parse_from(line).ok()?.command {
            Command::Detach(args) => Some(args),
            _ => None,
        }
    }

    #[test]
    fn detach_takes_one_device_or_all_or_the_lost() {
        assert!(detach(&["--dev", "eth0"]).is_some_and(|args| !args.all && !args.lost));
        assert!(detach(&["--all"]).is_some_and(|args| args.all && !args.lost));
        assert!(detach(&["--lost"]).is_some_and(|args| args.lost && !args.all));
        let refused: [&[&str]; 5] = [
            &[],
            &["--netns", "h1"],
            &["--all", "--lost"],
            &["--lost", "--dev", "eth0"],
            &["--lost", "--netns", "h1"],
        ];
        for arguments in refused {
            assert!(detach(arguments).is_none(), "{arguments:?}");
        }
    }
}
