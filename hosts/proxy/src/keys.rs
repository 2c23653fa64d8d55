// SPDX-License-Identifier: Apache-2.0
use crate::config::{Config, Identity};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::sync::Arc;
fn parts(
    i: &Identity,
) -> anyhow::Result<(Arc<rustls::RootCertStore>, Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)> {
    let mut roots = rustls::RootCertStore::empty();
    for c in CertificateDer::pem_file_iter(&i.ca)? {
        roots.add(c?)?;
    }
    let chain = CertificateDer::pem_file_iter(&i.certificate)?.collect::<Result<Vec<_>, _>>()?;
    Ok((Arc::new(roots), chain, PrivateKeyDer::from_pem_file(&i.key)?))
}
pub fn server_config(i: &Identity) -> anyhow::Result<Arc<rustls::ServerConfig>> {
    let (roots, chain, key) = parts(i)?;
    let p = Arc::new(rustls::crypto::ring::default_provider());
    let v = rustls::server::WebPkiClientVerifier::builder_with_provider(roots, p.clone()).build()?;
    let mut c = rustls::ServerConfig::builder_with_provider(p)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_client_cert_verifier(v)
        .with_single_cert(chain, key)?;
    c.max_early_data_size = u32::MAX;
    Ok(Arc::new(c))
}
pub fn client_config(i: &Identity) -> anyhow::Result<Arc<rustls::ClientConfig>> {
    let (roots, chain, key) = parts(i)?;
    let p = Arc::new(rustls::crypto::ring::default_provider());
    let mut c = rustls::ClientConfig::builder_with_provider(p)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_root_certificates(roots)
        .with_client_auth_cert(chain, key)?;
    c.enable_early_data = true;
    Ok(Arc::new(c))
}
pub fn explain(_: &noq_proto::ConnectionError, _: &Config) -> Option<String> {
    None
}
