// SPDX-License-Identifier: Apache-2.0
use crate::config::*;
use std::process::ExitCode;
pub fn main() -> ExitCode {
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_writer(std::io::stderr)
        .init();
    let a: Vec<String> = std::env::args().collect();
    let dir = std::path::PathBuf::from(&a[2]);
    let name = &a[3];
    let identity = Identity {
        ca: dir.join("ca.pem"),
        certificate: dir.join(format!("{name}.pem")),
        key: dir.join(format!("{name}.key")),
    };
    let any = Destination { address: "0.0.0.0".parse().expect("a"), prefix_bits: 0, ports: (0, 65535) };
    let role = if a[1] == "server" {
        Role::Server(ServerSettings {
            listen: a[4].parse().expect("listen"),
            allow: vec![any],
            early: vec![],
        })
    } else {
        Role::Client(ClientSettings {
            peer: a[4].parse().expect("peer"),
            peer_name: "ground".into(),
            forwards: a[5..]
                .iter()
                .map(|f| {
                    let (l, d) = f.split_once('=').expect("=");
                    Forward { listen: l.parse().expect("l"), destination: d.parse().expect("d") }
                })
                .collect(),
            transparent: None,
        })
    };
    let config = Config {
        role,
        identity,
        law: LawSettings { name: "cubic".into(), parameters: vec![] },
        header: HeaderMode::Auto,
        limits: Limits::default(),
        metrics: None,
        control_socket: "/tmp/x".into(),
    };
    let again = config.clone();
    match crate::driver::run(config, Box::new(move || Ok(again.clone()))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("clarion-proxy: {e:#}");
            ExitCode::FAILURE
        }
    }
}
