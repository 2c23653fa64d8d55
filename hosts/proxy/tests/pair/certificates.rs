// SPDX-License-Identifier: Apache-2.0
//! Certificates of a private CA for both ends of a pair.

use std::sync::{Arc, OnceLock};

use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;

pub const SERVER_NAME: &str = "ground";

struct Party {
    chain: Vec<CertificateDer<'static>>,
    key: Vec<u8>,
}

struct Authority {
    root: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("parameters");
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        let key = KeyPair::generate().expect("key");
        let root = params.self_signed(&key).expect("root").der().clone();
        Self { root, issuer: Issuer::new(params, key) }
    }

    fn issue(&self, name: &str) -> Party {
        let mut params = CertificateParams::new(vec![name.to_owned()]).expect("parameters");
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate().expect("key");
        let certificate = params.signed_by(&key, &self.issuer).expect("certificate");
        Party { chain: vec![certificate.der().clone()], key: key.serialize_der() }
    }
}

fn roots(authority: &Authority) -> Arc<RootCertStore> {
    let mut roots = RootCertStore::empty();
    roots.add(authority.root.clone()).expect("root");
    Arc::new(roots)
}

fn key(party: &Party) -> PrivateKeyDer<'static> {
    PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(party.key.clone()))
}

/// TLS of a server and of a client that know each other.
pub fn pair() -> (Arc<rustls::ServerConfig>, Arc<rustls::ClientConfig>) {
    static AUTHORITY: OnceLock<Authority> = OnceLock::new();
    let authority = AUTHORITY.get_or_init(Authority::new);
    configs(authority, authority)
}

/// A client whose certificate another CA has signed.
pub fn foreign_pair() -> (Arc<rustls::ServerConfig>, Arc<rustls::ClientConfig>) {
    configs(&Authority::new(), &Authority::new())
}

fn configs(
    authority: &Authority,
    client_authority: &Authority,
) -> (Arc<rustls::ServerConfig>, Arc<rustls::ClientConfig>) {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(roots(authority), provider.clone())
        .build()
        .expect("verifier");
    let server = authority.issue(SERVER_NAME);
    let mut server_tls = rustls::ServerConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("TLS 1.3")
        .with_client_cert_verifier(verifier)
        .with_single_cert(server.chain.clone(), key(&server))
        .expect("server certificate");
    server_tls.max_early_data_size = u32::MAX;
    let client = client_authority.issue("ship");
    let mut client_tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("TLS 1.3")
        .with_root_certificates(roots(authority))
        .with_client_auth_cert(client.chain.clone(), key(&client))
        .expect("client certificate");
    client_tls.enable_early_data = true;
    (Arc::new(server_tls), Arc::new(client_tls))
}
