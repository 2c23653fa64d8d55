// SPDX-License-Identifier: Apache-2.0
//! Options of the command line and tables of the file, which say the same; an option counts for more.

use std::collections::BTreeMap;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};
use serde::Deserialize;

use crate::config::{
    ClientSettings, Config, Destination, Forward, HeaderMode, Identity, LawSettings, Limits, Role,
    ServerSettings, TransparentSettings,
};
use crate::law;

const DEFAULT_KEYS: &str = "/etc/clarion/proxy";
/// Control sockets, and records of what is to be taken back.
pub const RUN_DIRECTORY: &str = "/run/clarion/proxy";
const DEFAULT_LAW: &str = "boost";
const DEFAULT_TRANSPARENT_PORT: u16 = 7443;
const MIB: u64 = 1 << 20;

/// A file of settings, in TOML.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct File {
    pub client: Option<ClientOptions>,
    pub server: Option<ServerOptions>,
    pub identity: IdentityOptions,
    pub tunnel: TunnelOptions,
    pub observe: ObserveOptions,
}

/// Who this end is.
#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct IdentityOptions {
    /// Directory with ca.pem, NAME.pem and NAME.key [default: /etc/clarion/proxy]
    #[arg(long, value_name = "DIR")]
    pub keys: Option<PathBuf>,
    /// Name of this end, in its certificate
    #[arg(long)]
    pub name: Option<String>,
}

#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClientOptions {
    /// UDP address of the server
    #[arg(long, value_name = "HOST:PORT")]
    pub peer: Option<String>,
    /// Name in the server's certificate [default: HOST, if it is a name]
    #[arg(long, value_name = "NAME")]
    pub peer_name: Option<String>,
    /// Accept at LISTEN and have the server connect DESTINATION, as 127.0.0.1:7001=192.0.2.1:21; repeat for more
    #[arg(long, value_name = "LISTEN=DESTINATION")]
    #[serde(deserialize_with = "from_texts")]
    pub forward: Vec<Forward>,
    /// Take TCP connections that were going elsewhere: of this host, of those that it forwards for, or both
    #[arg(long, value_enum)]
    pub transparent: Option<Whose>,
    /// Destinations that are taken, as 10.0.0.0/8:* or [2001:db8::]/32:1-1023; repeat for more
    #[arg(long, value_name = "DESTINATIONS")]
    #[serde(deserialize_with = "from_texts")]
    pub take: Vec<Destination>,
    /// Port at which taken connections arrive [default: 7443]
    #[arg(long, value_name = "PORT")]
    pub transparent_port: Option<u16>,
}

#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerOptions {
    /// UDP address to listen at
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<SocketAddr>,
    /// Destinations that clients may reach, as 10.0.0.0/8:* or [2001:db8::]/32:1-1023; repeat for more
    #[arg(long, value_name = "DESTINATIONS")]
    #[serde(deserialize_with = "from_texts")]
    pub allow: Vec<Destination>,
    /// Of these, those that may be connected before a returning client has proven itself: an attacker can repeat
    /// what it sent
    #[arg(long, value_name = "DESTINATIONS")]
    #[serde(deserialize_with = "from_texts")]
    pub early: Vec<Destination>,
}

#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TunnelOptions {
    /// Congestion-control law; `clarion-proxy laws` lists them [default: boost]
    #[arg(long)]
    pub law: Option<String>,
    /// Parameter of the law; repeat for more
    #[arg(long, value_name = "KEY=VALUE", value_parser = parameter)]
    #[serde(skip)]
    pub set: Vec<(String, u32)>,
    #[arg(skip)]
    #[serde(rename = "set")]
    pub set_table: BTreeMap<String, u32>,
    /// Whether packets carry Clarion's header where its shim is attached [default: auto]
    #[arg(long, value_enum)]
    pub header: Option<Header>,
    /// What is taken from applications, or held for them, before they wait, in MiB [default: 256]
    #[arg(long, value_name = "N")]
    pub buffer_mib: Option<u32>,
    /// The same for one TCP connection [default: 64]
    #[arg(long, value_name = "N")]
    pub stream_mib: Option<u32>,
    /// Send a packet again, once, when it is lost with so many per cent of probability, 1 to 99 [default: never]
    #[arg(long, value_name = "PERCENT")]
    pub predict_loss: Option<u8>,
    /// TCP connections at once [default: 4096]
    #[arg(long, value_name = "N")]
    pub max_connections: Option<u32>,
    /// A peer that is silent for so long is dead [default: 180]
    #[arg(long, value_name = "SECONDS")]
    pub idle_timeout_s: Option<u32>,
    /// So long a peer or a destination may take to answer [default: 20]
    #[arg(long, value_name = "SECONDS")]
    pub connect_timeout_s: Option<u32>,
    /// A reader that takes nothing for so long while many do is reset [default: 60]
    #[arg(long, value_name = "SECONDS")]
    pub slow_reader_timeout_s: Option<u32>,
}

#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ObserveOptions {
    /// Serve metrics for Prometheus at http://ADDRESS:PORT/metrics
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub metrics: Option<SocketAddr>,
    /// Socket for `clarion-proxy status` [default: /run/clarion/proxy/NAME.sock]
    #[arg(long, value_name = "PATH")]
    pub control: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Whose {
    Local,
    Forwarded,
    Both,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Header {
    Auto,
    Off,
}

/// What all proxies have.
#[derive(Args, Clone, Debug, Default)]
pub struct CommonOptions {
    /// Settings in TOML; options count for more
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    pub identity: IdentityOptions,
    #[command(flatten)]
    pub tunnel: TunnelOptions,
    #[command(flatten)]
    pub observe: ObserveOptions,
}

/// The settings of a client.
pub fn client(options: &ClientOptions, common: &CommonOptions) -> Result<Config> {
    let file = read(common.config.as_deref())?;
    ensure!(file.server.is_none(), "{}: [server] in the settings of a client", shown(common));
    let client = client_settings(options.clone().over(file.client.clone().unwrap_or_default()))?;
    settle(Role::Client(client), common.clone(), file)
}

/// The settings of a server.
pub fn server(options: &ServerOptions, common: &CommonOptions) -> Result<Config> {
    let file = read(common.config.as_deref())?;
    ensure!(file.client.is_none(), "{}: [client] in the settings of a server", shown(common));
    let options = options.clone().over(file.server.clone().unwrap_or_default());
    let listen = options.listen.context("a server needs --listen ADDRESS:PORT, as 0.0.0.0:4433")?;
    ensure!(listen.port() != 0, "--listen {listen}: port 0 is none that a client could know");
    ensure!(!options.allow.is_empty(), "a server needs --allow DESTINATIONS, as 10.0.0.0/8:*");
    let server = ServerSettings { listen, allow: options.allow, early: options.early };
    settle(Role::Server(server), common.clone(), file)
}

/// Where `clarion-proxy status` asks by default.
pub fn control_socket(name: &str) -> PathBuf {
    Path::new(RUN_DIRECTORY).join(format!("{name}.sock"))
}

pub fn default_keys() -> PathBuf {
    PathBuf::from(DEFAULT_KEYS)
}

fn shown(common: &CommonOptions) -> String {
    common.config.as_deref().map_or_else(String::new, |path| path.display().to_string())
}

fn read(path: Option<&Path>) -> Result<File> {
    let Some(path) = path else { return Ok(File::default()) };
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    toml::from_str(&text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = text[..at].matches('\n').count() + 1;
        let message = error.message().replace('\n', "; ");
        anyhow::anyhow!("{}, line {line}: {message}", path.display())
    })
}

fn client_settings(options: ClientOptions) -> Result<ClientSettings> {
    let peer = options.peer.context("a client needs --peer HOST:PORT")?;
    let found = peer.to_socket_addrs().with_context(|| format!("--peer {peer}: no such HOST:PORT"))?.next();
    let address = found.with_context(|| format!("--peer {peer}: has no address"))?;
    ensure!(address.port() != 0, "--peer {peer}: port 0 is none");
    let host = peer.rsplit_once(':').map_or("", |(host, _)| host);
    let is_name = address.ip().to_string() != host.trim_matches(['[', ']']);
    let peer_name = options.peer_name.or_else(|| is_name.then(|| host.to_owned()));
    let peer_name =
        peer_name.context("--peer is an address: --peer-name says which name its certificate has")?;
    let transparent = transparent_settings(options.transparent, options.take, options.transparent_port)?;
    ensure!(
        !options.forward.is_empty() || transparent.is_some(),
        "a client needs --forward LISTEN=DESTINATION or --transparent: it would carry nothing"
    );
    for (index, forward) in options.forward.iter().enumerate() {
        let is_twice = options.forward[..index].iter().any(|other| other.listen == forward.listen);
        ensure!(!is_twice, "--forward {}: is listened at twice", forward.listen);
    }
    Ok(ClientSettings { peer: address, peer_name, forwards: options.forward, transparent })
}

fn transparent_settings(
    whose: Option<Whose>,
    destinations: Vec<Destination>,
    port: Option<u16>,
) -> Result<Option<TransparentSettings>> {
    let Some(whose) = whose else {
        ensure!(
            destinations.is_empty() && port.is_none(),
            "--take and --transparent-port need --transparent"
        );
        return Ok(None);
    };
    let port = port.unwrap_or(DEFAULT_TRANSPARENT_PORT);
    ensure!(port != 0, "--transparent-port 0 is none");
    ensure!(!destinations.is_empty(), "--transparent needs --take DESTINATIONS, as 10.0.0.0/8:*");
    let (local, forwarded) = (whose != Whose::Forwarded, whose != Whose::Local);
    Ok(Some(TransparentSettings { local, forwarded, destinations, port }))
}

fn settle(role: Role, common: CommonOptions, file: File) -> Result<Config> {
    let identity = common.identity.over(file.identity);
    let tunnel = common.tunnel.over(file.tunnel);
    let observe = common.observe.over(file.observe);
    let name = identity.name.context("--name says which certificate of the keys is this end's")?;
    ensure!(is_file_name(&name), "--name {name:?}: letters, digits, dots and hyphens only");
    let directory = identity.keys.unwrap_or_else(default_keys);
    Ok(Config {
        role,
        identity: Identity {
            ca: directory.join("ca.pem"),
            certificate: directory.join(format!("{name}.pem")),
            key: directory.join(format!("{name}.key")),
        },
        limits: limits(&tunnel)?,
        predict_loss: predict_loss(tunnel.predict_loss)?,
        law: law_settings(&tunnel)?,
        header: match tunnel.header {
            Some(Header::Off) => HeaderMode::Off,
            Some(Header::Auto) | None => HeaderMode::Auto,
        },
        metrics: observe.metrics,
        control_socket: observe.control.unwrap_or_else(|| control_socket(&name)),
    })
}

/// Whether a name may be that of a file, and in a certificate.
pub fn is_file_name(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '.';
    !name.is_empty() && !name.starts_with(['.', '-']) && name.chars().all(is_letter)
}

fn law_settings(tunnel: &TunnelOptions) -> Result<LawSettings> {
    let name = tunnel.law.clone().unwrap_or_else(|| DEFAULT_LAW.to_owned());
    let mut parameters: Vec<(String, u32)> =
        tunnel.set_table.iter().map(|(key, value)| (key.clone(), *value)).collect();
    parameters.extend(tunnel.set.iter().cloned());
    law::LawFactory::new(&name, &parameters, std::sync::Arc::new(crate::header::NoHeader))?;
    Ok(LawSettings { name, parameters })
}

fn limits(tunnel: &TunnelOptions) -> Result<Limits> {
    let defaults = Limits::default();
    let seconds = |option: Option<u32>, default: Duration, name: &str| match option {
        Some(0) => bail!("--{name} 0: at least 1"),
        Some(seconds) => Ok(Duration::from_secs(seconds.into())),
        None => Ok(default),
    };
    let limits = Limits {
        buffer_bytes: tunnel.buffer_mib.map_or(defaults.buffer_bytes, |mib| u64::from(mib) * MIB),
        stream_bytes: tunnel.stream_mib.map_or(defaults.stream_bytes, |mib| u64::from(mib) * MIB),
        max_connections: tunnel.max_connections.unwrap_or(defaults.max_connections),
        idle_timeout: seconds(tunnel.idle_timeout_s, defaults.idle_timeout, "idle-timeout-s")?,
        connect_timeout: seconds(tunnel.connect_timeout_s, defaults.connect_timeout, "connect-timeout-s")?,
        slow_reader_timeout: seconds(
            tunnel.slow_reader_timeout_s,
            defaults.slow_reader_timeout,
            "slow-reader-timeout-s",
        )?,
    };
    ensure!(limits.buffer_bytes > 0, "--buffer-mib 0: at least 1");
    ensure!(limits.stream_bytes > 0, "--stream-mib 0: at least 1");
    ensure!(
        limits.stream_bytes <= limits.buffer_bytes,
        "--stream-mib {}: more than all connections together have (--buffer-mib {})",
        limits.stream_bytes / MIB,
        limits.buffer_bytes / MIB
    );
    ensure!(limits.max_connections > 0, "--max-connections 0: at least 1");
    Ok(limits)
}

fn predict_loss(percent: Option<u8>) -> Result<Option<f64>> {
    let Some(percent) = percent else { return Ok(None) };
    ensure!(
        (1..100).contains(&percent),
        "--predict-loss {percent}: 1 to 99 per cent; leave it out for never"
    );
    Ok(Some(f64::from(percent) / 100.0))
}

fn parameter(text: &str) -> Result<(String, u32), String> {
    let parsed = text.split_once('=').and_then(|(key, value)| Some((key.to_owned(), value.parse().ok()?)));
    parsed.ok_or_else(|| format!("{text:?}: write KEY=VALUE with a whole number"))
}

fn from_texts<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: std::str::FromStr,
    T::Err: std::fmt::Display,
{
    let texts = Vec::<String>::deserialize(deserializer)?;
    texts.iter().map(|text| text.parse().map_err(serde::de::Error::custom)).collect()
}

/// Each option of the command line, or else that of the file.
macro_rules! over {
    ($type:ty: $($option:ident),*; $($list:ident),*) => {
        impl $type {
            fn over(self, file: Self) -> Self {
                Self {
                    $($option: self.$option.or(file.$option),)*
                    $($list: if self.$list.is_empty() { file.$list } else { self.$list },)*
                }
            }
        }
    };
}

over!(IdentityOptions: keys, name;);
over!(ClientOptions: peer, peer_name, transparent, transparent_port; forward, take);
over!(ServerOptions: listen; allow, early);
over!(TunnelOptions: law, header, buffer_mib, stream_mib, predict_loss, max_connections, idle_timeout_s,
    connect_timeout_s, slow_reader_timeout_s; set, set_table);
over!(ObserveOptions: metrics, control;);

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn common(file: Option<&tempfile::NamedTempFile>) -> CommonOptions {
        CommonOptions {
            config: file.map(|file| file.path().to_owned()),
            identity: IdentityOptions { name: Some("ship".into()), ..IdentityOptions::default() },
            ..CommonOptions::default()
        }
    }

    fn file(text: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().expect("file");
        file.write_all(text.as_bytes()).expect("write");
        file
    }

    fn client_options() -> ClientOptions {
        ClientOptions {
            peer: Some("192.0.2.1:4433".into()),
            peer_name: Some("ground".into()),
            forward: vec!["127.0.0.1:7001=192.0.2.9:21".parse().expect("forward")],
            ..ClientOptions::default()
        }
    }

    fn refusal(result: Result<Config>) -> String {
        let text = format!("{:#}", result.expect_err("refused"));
        assert!(!text.contains('\n'), "{text}");
        text
    }

    #[test]
    fn options_count_for_more_than_the_file() {
        let file = file(
            "[client]\npeer = '192.0.2.7:1'\n[tunnel]\nlaw = 'cubic'\nbuffer_mib = 100\n\
             predict_loss = 50\n\
             [tunnel.set]\ninitial_window_packets = 32\n[observe]\nmetrics = '127.0.0.1:9000'\n",
        );
        let mut common = common(Some(&file));
        common.tunnel.buffer_mib = Some(200);
        let config = client(&client_options(), &common).expect("config");
        let Role::Client(settings) = config.role else { panic!("client") };
        assert_eq!(settings.peer, "192.0.2.1:4433".parse().expect("address"));
        assert_eq!(config.law.name, "cubic");
        assert_eq!(config.law.parameters, [("initial_window_packets".to_owned(), 32)]);
        assert_eq!(config.limits.buffer_bytes, 200 << 20);
        assert_eq!(config.predict_loss, Some(0.5));
        assert_eq!(config.metrics, "127.0.0.1:9000".parse().ok());
        assert_eq!(config.control_socket, Path::new("/run/clarion/proxy/ship.sock"));
    }

    #[test]
    fn a_bad_file_is_one_line_that_names_place_and_field() {
        for (text, words) in [
            ("[tunnel]\nlow = 'cubic'\n", ["line 2", "low"]),
            ("[tunnel]\nbuffer_mib = 'much'\n", ["line 2", "u32"]),
            ("[client]\nforward = ['x']\n", ["line 2", "LISTEN=DESTINATION"]),
            ("[server]\nlisten = '0.0.0.0:1'\n", ["[server]", "client"]),
            ("[client\n", ["line 1", "table"]),
        ] {
            let file = file(text);
            let text = refusal(client(&client_options(), &common(Some(&file))));
            assert!(words.iter().all(|word| text.contains(word)), "{text}: {words:?}");
        }
    }

    #[test]
    fn bad_options_are_one_line_that_names_the_option() {
        type Change = fn(&mut ClientOptions, &mut CommonOptions);
        let cases: [(Change, &str); 16] = [
            (|client, _| client.peer = None, "--peer"),
            (|client, _| client.peer = Some("192.0.2.1:0".into()), "--peer"),
            (|client, _| client.peer = Some("192.0.2.1".into()), "--peer"),
            (|client, _| client.peer_name = None, "--peer-name"),
            (|client, _| client.forward.clear(), "--forward"),
            (|client, _| client.forward.push(client.forward[0].clone()), "--forward"),
            (|client, _| client.transparent = Some(Whose::Local), "--take"),
            (|client, _| client.transparent_port = Some(5), "--transparent"),
            (|_, common| common.identity.name = None, "--name"),
            (|_, common| common.identity.name = Some("../x".into()), "--name"),
            (|_, common| common.tunnel.law = Some("none".into()), "none"),
            (|_, common| common.tunnel.set = vec![("bogus".into(), 1)], "bogus"),
            (|_, common| common.tunnel.stream_mib = Some(1000), "--stream-mib"),
            (|_, common| common.tunnel.predict_loss = Some(0), "--predict-loss"),
            (|_, common| common.tunnel.predict_loss = Some(100), "--predict-loss"),
            (|_, common| common.tunnel.idle_timeout_s = Some(0), "--idle-timeout-s"),
        ];
        for (change, word) in cases {
            let (mut options, mut common) = (client_options(), common(None));
            change(&mut options, &mut common);
            let text = refusal(client(&options, &common));
            assert!(text.contains(word), "{text}: {word}");
        }
        let text = refusal(server(&ServerOptions::default(), &common(None)));
        assert!(text.contains("--listen"), "{text}");
        let listen = Some("0.0.0.0:4433".parse().expect("address"));
        let text = refusal(server(&ServerOptions { listen, ..ServerOptions::default() }, &common(None)));
        assert!(text.contains("--allow"), "{text}");
    }
}
