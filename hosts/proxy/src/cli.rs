// SPDX-License-Identifier: Apache-2.0
//! The command line.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::options::{self, ClientOptions, CommonOptions, ServerOptions};
use crate::{driver, keys, law, observe, transparent};

/// Carries unmodified TCP applications over QUIC, driven by Clarion's congestion-control laws.
#[derive(Parser)]
#[command(name = "clarion-proxy", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Accept TCP connections and carry them to a server
    Client(ClientCommand),
    /// Connect what clients carry here to its destinations
    Server(ServerCommand),
    /// Make keys: a private CA, and certificates of it for both ends
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Show what a running proxy does
    Status(StatusCommand),
    /// List the congestion-control laws, and with --json their parameters
    Laws {
        #[arg(long)]
        json: bool,
    },
    /// Take back what proxies that died left: rules, routes, records
    Cleanup,
}

#[derive(Args)]
struct ClientCommand {
    #[command(flatten)]
    options: ClientOptions,
    #[command(flatten)]
    common: CommonOptions,
    #[command(flatten)]
    log: LogOptions,
}

#[derive(Args)]
struct ServerCommand {
    #[command(flatten)]
    options: ServerOptions,
    #[command(flatten)]
    common: CommonOptions,
    #[command(flatten)]
    log: LogOptions,
}

#[derive(Args)]
struct LogOptions {
    /// Form of the log, on stderr
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    log: LogFormat,
}

#[derive(Clone, Copy, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

#[derive(Subcommand)]
enum KeysCommand {
    /// Make the CA
    Init {
        #[arg(long, value_name = "DIR", default_value_os_t = options::default_keys())]
        dir: PathBuf,
    },
    /// Make the certificate of one end, or replace it
    Issue {
        name: String,
        #[arg(long, value_name = "DIR", default_value_os_t = options::default_keys())]
        dir: PathBuf,
        #[arg(long, default_value_t = 365)]
        days: u32,
    },
}

#[derive(Args)]
struct StatusCommand {
    /// Control socket of the proxy
    #[arg(long, value_name = "PATH", conflicts_with = "name", required_unless_present = "name")]
    control: Option<PathBuf>,
    /// Name of the proxy, if its control socket is where it is by default
    #[arg(long)]
    name: Option<String>,
    #[arg(long)]
    json: bool,
}

pub fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("clarion-proxy: {}", format!("{error:#}").replace('\n', "; "));
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<()> {
    match command {
        Command::Client(ClientCommand { options, common, log }) => {
            start_log(&log);
            let load = move || options::client(&options, &common);
            driver::run(load()?, Box::new(load))
        }
        Command::Server(ServerCommand { options, common, log }) => {
            start_log(&log);
            let load = move || options::server(&options, &common);
            driver::run(load()?, Box::new(load))
        }
        Command::Keys(KeysCommand::Init { dir }) => {
            show(&keys::init(&dir)?);
            Ok(())
        }
        Command::Keys(KeysCommand::Issue { name, dir, days }) => {
            show(&keys::issue(&dir, &name, days)?);
            Ok(())
        }
        Command::Status(command) => show_status(&command),
        Command::Laws { json } => list_laws(json),
        Command::Cleanup => {
            transparent::cleanup(Path::new(options::RUN_DIRECTORY))?
                .iter()
                .for_each(|line| println!("{line}"));
            Ok(())
        }
    }
}

fn start_log(options: &LogOptions) {
    observe::log::init(match options.log {
        LogFormat::Text => observe::Format::Text,
        LogFormat::Json => observe::Format::Json,
    });
}

fn show_status(command: &StatusCommand) -> Result<()> {
    let by_name = || command.name.as_deref().map(options::control_socket);
    let path = command.control.clone().or_else(by_name).context("--control or --name is needed")?;
    let status = observe::ask(&path)?;
    if command.json {
        println!("{}", serde_json::to_string_pretty(&status)?);
    } else {
        print!("{}", observe::text(&status));
    }
    Ok(())
}

fn show(paths: &[PathBuf]) {
    for path in paths {
        println!("{}", path.display());
    }
}

fn list_laws(is_json: bool) -> Result<()> {
    if !is_json {
        law::names().iter().for_each(|name| println!("{name}"));
        return Ok(());
    }
    let laws: Vec<_> = law::names()
        .into_iter()
        .map(|name| {
            let parameters: Vec<_> = law::parameters(name)
                .into_iter()
                .map(|each| {
                    serde_json::json!({
                        "name": each.name, "default": each.default, "min": each.min, "max": each.max
                    })
                })
                .collect();
            serde_json::json!({"name": name, "parameters": parameters})
        })
        .collect();
    println!("{}", serde_json::to_string_pretty(&laws)?);
    Ok(())
}
