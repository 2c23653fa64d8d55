// SPDX-License-Identifier: Apache-2.0
//! The command line.

use std::time::Duration;

use anyhow::Result;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::kernel::{objects, preconditions};
use crate::model::attachment::Headroom;
use crate::operations::{attach, decisions, list, lldp, parameters, restore, stats};

/// Makes Linux hosts Clarion senders and shows what their flows do.
#[derive(Parser)]
#[command(version)]
struct Cli {
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
    /// Say hello on every attached device (LLDP) and judge by the answers whether its link is a bare wire, until
    /// SIGTERM or SIGINT
    Lldp,
    /// Print every reduction of a window as it is made, one line of JSON each, until SIGTERM or SIGINT
    Decisions(DecisionsArgs),
    /// Show the run-time parameters of the congestion-control laws, their ranges and defaults
    Params(OutputArgs),
}

/// Which device, in which namespace.
#[derive(Args, Clone)]
struct Target {
    /// Network namespace: a name under /run/netns, or pid:1234; the current one if not given
    #[arg(long)]
    netns: Option<String>,
    /// Network device in that namespace
    #[arg(long)]
    dev: String,
}

#[derive(Args)]
struct AttachArgs {
    #[command(flatten)]
    target: Target,
    /// Congestion control of the namespace: clarion_xcp, clarion_boost, clarion_fast, another of Clarion's
    /// (a wrong name lists them all), or one of the kernel's; left as it is if not given
    #[arg(long)]
    cc: Option<String>,
    /// Request loss causes for the packets of this host
    #[arg(long, value_enum, default_value_t = Toggle::On)]
    tags: Toggle,
    /// The link of the device is a bare wire: nothing on it but the neighbour queues packets, so what it loses is
    /// corruption. LLDP proves that, too, and counts for more
    #[arg(long)]
    wire: bool,
    /// Where the bytes for the header come from: a larger device MTU, or routes limited to shorter packets
    #[arg(long, value_enum, default_value_t = HeadroomSource::Raise)]
    headroom: HeadroomSource,
    /// Parameter of the laws for this namespace (see `clarion-host params`); may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// IP protocol number of the header; the same on all hosts and switches
    #[arg(long, default_value_t = 253, value_parser = clap::value_parser!(u8).range(1..=254))]
    protocol: u8,
}

#[derive(Args)]
struct DetachArgs {
    /// Network namespace: a name under /run/netns, or pid:1234; the current one if not given
    #[arg(long, conflicts_with_all = ["all", "lost"])]
    netns: Option<String>,
    /// Network device in that namespace
    #[arg(long, required_unless_present_any = ["all", "lost"], conflicts_with_all = ["all", "lost"])]
    dev: Option<String>,
    /// Every attachment of this machine, and whatever is left of ones that went wrong
    #[arg(long, conflicts_with = "lost")]
    all: bool,
    /// Forget the attachments whose namespace or device is gone; living ones stay
    #[arg(long)]
    lost: bool,
}

#[derive(Args)]
struct OutputArgs {
    /// Machine-readable output
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct StatsArgs {
    /// Machine-readable output: one JSON object per sample and line
    #[arg(long)]
    json: bool,
    /// Go on sampling with this period, until SIGTERM or SIGINT
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    interval_ms: Option<u64>,
    /// Stop after this many seconds
    #[arg(long, requires = "interval_ms", value_parser = clap::value_parser!(u64).range(1..))]
    duration_s: Option<u64>,
}

#[derive(Args)]
struct DecisionsArgs {
    /// Network namespace in which the kernel's own congestion controls are watched, too; may be repeated; the
    /// attached ones if not given
    #[arg(long)]
    netns: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Toggle {
    On,
    Off,
}

#[derive(Clone, Copy, ValueEnum)]
enum HeadroomSource {
    Raise,
    Route,
}

impl From<HeadroomSource> for Headroom {
    fn from(source: HeadroomSource) -> Self {
        match source {
            HeadroomSource::Raise => Self::Raise,
            HeadroomSource::Route => Self::Route,
        }
    }
}

impl From<AttachArgs> for attach::Request {
    fn from(args: AttachArgs) -> Self {
        Self {
            netns: args.target.netns,
            device: args.target.dev,
            cc: args.cc,
            tags: args.tags == Toggle::On,
            wire: args.wire,
            headroom: args.headroom.into(),
            settings: args.set,
            protocol: args.protocol,
        }
    }
}

impl StatsArgs {
    fn schedule(&self) -> stats::Schedule {
        stats::Schedule {
            interval: self.interval_ms.map(Duration::from_millis),
            duration: self.duration_s.map(Duration::from_secs),
        }
    }
}

/// Does what the command line of this process says.
pub fn run() -> Result<()> {
    Cli::parse().run()
}

impl Cli {
    fn run(self) -> Result<()> {
        objects::quiet(!self.verbose);
        if let Command::Params(args) = self.command {
            return parameters::show(args.json); // reads only what is embedded
        }
        preconditions::check()?;
        match self.command {
            Command::Attach(args) => attach::attach(&args.into()),
            Command::Detach(args) if args.all => restore::detach_all(),
            Command::Detach(args) if args.lost => restore::detach_lost(),
            Command::Detach(args) => {
                restore::detach(args.netns.as_deref(), args.dev.as_deref().unwrap_or(""))
            }
            Command::List(args) => list::list(args.json),
            Command::Stats(args) => stats::run(&args.schedule(), args.json),
            Command::Lldp => lldp::run(),
            Command::Decisions(args) => decisions::run(&args.netns),
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
