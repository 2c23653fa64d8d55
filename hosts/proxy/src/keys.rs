// SPDX-License-Identifier: Apache-2.0
use crate::config::{Config, Identity};
use std::sync::Arc;
pub fn server_config(_: &Identity) -> anyhow::Result<Arc<rustls::ServerConfig>> {
    anyhow::bail!("stub")
}
pub fn client_config(_: &Identity) -> anyhow::Result<Arc<rustls::ClientConfig>> {
    anyhow::bail!("stub")
}
pub fn explain(_: &noq_proto::ConnectionError, _: &Config) -> Option<String> {
    None
}
