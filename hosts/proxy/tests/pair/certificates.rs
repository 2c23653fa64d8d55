// SPDX-License-Identifier: Apache-2.0
//! Certificates of a private CA for both ends of a pair, and such as a stranger might show.

use std::sync::{Arc, OnceLock};

use rcgen::{
    BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, date_time_ymd,
};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;

pub const SERVER_NAME: &str = "ground";

/// As `keys` has it.
pub const ALPN: &[u8] = b"clarion-proxy/1";

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

    fn shared() -> &'static Self {
        static AUTHORITY: OnceLock<Authority> = OnceLock::new();
        AUTHORITY.get_or_init(Self::new)
    }

    fn issue(&self, params: CertificateParams) -> Party {
        let key = KeyPair::generate().expect("key");
        let certificate = params.signed_by(&key, &self.issuer).expect("certificate");
        Party { chain: vec![certificate.der().clone()], key: key.serialize_der() }
    }

    fn roots(&self) -> Arc<RootCertStore> {
        let mut roots = RootCertStore::empty();
        roots.add(self.root.clone()).expect("root");
        Arc::new(roots)
    }
}

fn leaf(name: &str) -> CertificateParams {
    let mut params = CertificateParams::new(vec![name.to_owned()]).expect("parameters");
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    params
}

fn key(party: &Party) -> PrivateKeyDer<'static> {
    PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(party.key.clone()))
}

/// What a client shows to prove who it is.
#[derive(Clone, Copy, Debug)]
pub enum Proof {
    Good,
    Nothing,
    /// Of another CA, which has the same name.
    Foreign,
    Expired,
    NotYetValid,
    /// Signed with the key of a good certificate that is no CA.
    OfNoAuthority,
    /// For servers only.
    OfAnotherUse,
}

fn party(proof: Proof) -> Option<Party> {
    let authority = Authority::shared();
    let mut params = leaf("ship");
    match proof {
        Proof::Nothing => return None,
        Proof::Good => {}
        Proof::Foreign => return Some(Authority::new().issue(params)),
        Proof::Expired => params.not_after = date_time_ymd(2020, 1, 1),
        Proof::NotYetValid => params.not_before = date_time_ymd(4000, 1, 1),
        Proof::OfAnotherUse => params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth],
        Proof::OfNoAuthority => {
            let holder = authority.issue(leaf("ship"));
            let holders_key = KeyPair::try_from(holder.key.as_slice()).expect("key");
            let issuer =
                Authority { root: authority.root.clone(), issuer: Issuer::new(leaf("ship"), holders_key) };
            let mut forged = issuer.issue(params);
            forged.chain.extend(holder.chain);
            return Some(forged);
        }
    }
    Some(authority.issue(params))
}

/// TLS of a server and of a client that know each other.
pub fn pair() -> (Arc<rustls::ServerConfig>, Arc<rustls::ClientConfig>) {
    (server(), client(Proof::Good, ALPN))
}

fn server() -> Arc<rustls::ServerConfig> {
    let authority = Authority::shared();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(authority.roots(), provider.clone())
        .build()
        .expect("verifier");
    let own = authority.issue(leaf(SERVER_NAME));
    let mut tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("TLS 1.3")
        .with_client_cert_verifier(verifier)
        .with_single_cert(own.chain.clone(), key(&own))
        .expect("server certificate");
    tls.max_early_data_size = u32::MAX;
    tls.alpn_protocols = vec![ALPN.to_vec()];
    Arc::new(tls)
}

/// A client that shows `proof` and asks for the protocol `alpn`.
pub fn client(proof: Proof, alpn: &[u8]) -> Arc<rustls::ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("TLS 1.3")
        .with_root_certificates(Authority::shared().roots());
    let mut tls = match party(proof) {
        Some(own) => builder.with_client_auth_cert(own.chain.clone(), key(&own)).expect("client certificate"),
        None => builder.with_no_client_auth(),
    };
    tls.enable_early_data = true;
    tls.alpn_protocols = vec![alpn.to_vec()];
    Arc::new(tls)
}
