// SPDX-License-Identifier: Apache-2.0
//! The settings of the QUIC library.

use std::sync::Arc;

use anyhow::{Context, Result};
use noq_proto::congestion::ControllerFactory;
use noq_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use noq_proto::{ClientConfig, EndpointConfig, ServerConfig};
use ring::{digest, hmac};

use super::switchboard::Switchboard;
use crate::config::Config;
use crate::keys;
use crate::law::{Counters, LawFactory};
use crate::prediction::Prediction;
use crate::tunnel::transport_config;

/// A stateless reset says that this program has lost its connections (RFC 9000, 10.3): made of the private key, it is
/// the same after a restart, so a peer learns of that at once.
const RESET_CONTEXT: &[u8] = b"clarion-proxy stateless reset";

pub fn endpoint(config: &Config) -> Result<EndpointConfig> {
    let path = &config.identity.key;
    let key = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut hash = digest::Context::new(&digest::SHA256);
    hash.update(RESET_CONTEXT);
    hash.update(&key);
    Ok(EndpointConfig::new(Arc::new(hmac::Key::new(hmac::HMAC_SHA256, hash.finish().as_ref()))))
}

/// What all tunnels of a server share; each has a transport of its own besides.
pub fn any_server(config: &Config) -> Result<ServerConfig> {
    let tls = keys::server_config(&config.identity)?;
    let crypto = QuicServerConfig::try_from(tls).context("TLS without a cipher suite for QUIC")?;
    Ok(ServerConfig::with_crypto(Arc::new(crypto)))
}

pub fn server(config: &Config, any: &ServerConfig, path: &Path) -> Result<(Arc<ServerConfig>, Watch)> {
    let (transport, watch) = transport(config, path)?;
    let mut server = any.clone();
    server.transport_config(Arc::new(transport));
    Ok((Arc::new(server), watch))
}

pub fn client(config: &Config, tls: Arc<rustls::ClientConfig>, path: &Path) -> Result<(ClientConfig, Watch)> {
    let crypto = QuicClientConfig::try_from(tls).context("TLS without a cipher suite for QUIC")?;
    let (transport, watch) = transport(config, path)?;
    let mut client = ClientConfig::new(Arc::new(crypto));
    client.transport_config(Arc::new(transport));
    Ok((client, watch))
}

/// What a tunnel's settings depend on of its path.
pub struct Path {
    pub channel: Switchboard,
    pub largest_datagram_bytes: u16,
    pub is_ipv6: bool,
}

/// What is seen of a tunnel through its congestion controller.
pub struct Watch {
    pub law: Arc<Counters>,
    pub prediction: Option<Prediction>,
}

fn transport(config: &Config, path: &Path) -> Result<(noq_proto::TransportConfig, Watch)> {
    let law = LawFactory::new(&config.law.name, &config.law.parameters, Arc::new(path.channel.clone()))?
        .ipv6(path.is_ipv6);
    let watch = Watch { law: law.counters(), prediction: config.predict_loss.map(Prediction::new) };
    let law: Arc<dyn ControllerFactory + Send + Sync> = match &watch.prediction {
        Some(prediction) => Arc::new(prediction.listen(law)),
        None => Arc::new(law),
    };
    Ok((transport_config(&config.limits, law, path.largest_datagram_bytes), watch))
}
