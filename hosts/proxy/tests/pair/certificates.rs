// SPDX-License-Identifier: Apache-2.0
//! Certificates of a private CA for both ends of a pair, and such as a stranger might show.

use std::sync::{Arc, OnceLock};

use clarion_proxy::config::Identity;
use clarion_proxy::keys;
use rcgen::{CertificateParams, ExtendedKeyUsagePurpose, Issuer, KeyPair, date_time_ymd};
use rustls::RootCertStore;
use rustls::client::Resumption;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::ServerSessionMemoryCache;
use tempfile::TempDir;

pub const SERVER_NAME: &str = "ground";
const CLIENT_NAME: &str = "ship";
/// Connections that a server remembers for 0-RTT.
const SESSIONS: usize = 256;

/// A private CA, and TLS of both ends as `keys` makes it.
struct Authority {
    root: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
    server: Arc<rustls::ServerConfig>,
    client: Arc<rustls::ClientConfig>,
}

impl Authority {
    fn new() -> Self {
        let folder = TempDir::new().expect("folder");
        let file = |name: String| folder.path().join(name);
        let read = |name: &str| std::fs::read_to_string(file(name.to_owned())).expect("file");
        keys::init(folder.path()).expect("CA");
        let identity = |name: &str| {
            keys::issue(folder.path(), name, 1).expect("certificate");
            let (certificate, key) = (file(format!("{name}.pem")), file(format!("{name}.key")));
            Identity { ca: file("ca.pem".to_owned()), certificate, key }
        };
        let key = KeyPair::from_pem(&read("ca.key")).expect("key");
        Self {
            root: CertificateDer::from_pem_file(file("ca.pem".to_owned())).expect("root"),
            issuer: Issuer::from_ca_cert_pem(&read("ca.pem"), key).expect("issuer"),
            server: keys::server_config(&identity(SERVER_NAME)).expect("server"),
            client: keys::client_config(&identity(CLIENT_NAME)).expect("client"),
        }
    }

    fn shared() -> &'static Self {
        static AUTHORITY: OnceLock<Authority> = OnceLock::new();
        AUTHORITY.get_or_init(Self::new)
    }
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

/// TLS of a server and of a client that know each other, and have not met.
pub fn pair() -> (Arc<rustls::ServerConfig>, Arc<rustls::ClientConfig>) {
    (server(), client())
}

/// A server that remembers no client.
pub fn server() -> Arc<rustls::ServerConfig> {
    let mut tls = (*Authority::shared().server).clone();
    tls.session_storage = ServerSessionMemoryCache::new(SESSIONS);
    Arc::new(tls)
}

fn client() -> Arc<rustls::ClientConfig> {
    let mut tls = (*Authority::shared().client).clone();
    tls.resumption = Resumption::default();
    Arc::new(tls)
}

/// A client that asks for another protocol.
pub fn client_of(alpn: &[u8]) -> Arc<rustls::ClientConfig> {
    let mut tls = (*client()).clone();
    tls.alpn_protocols = vec![alpn.to_vec()];
    Arc::new(tls)
}

/// A client that shows that.
pub fn client_with(proof: Proof) -> Arc<rustls::ClientConfig> {
    let authority = Authority::shared();
    let mut roots = RootCertStore::empty();
    roots.add(authority.root.clone()).expect("root");
    let builder =
        rustls::ClientConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .expect("TLS 1.3")
            .with_root_certificates(roots);
    let mut tls = match party(authority, proof) {
        Some((chain, key)) => builder.with_client_auth_cert(chain, key).expect("client certificate"),
        None => builder.with_no_client_auth(),
    };
    tls.alpn_protocols.clone_from(&authority.client.alpn_protocols);
    Arc::new(tls)
}

type Party = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn party(authority: &Authority, proof: Proof) -> Option<Party> {
    let mut params = leaf();
    match proof {
        Proof::Good => {}
        Proof::Nothing => return None,
        Proof::Foreign => return Some(issue(&Authority::new().issuer, params)),
        Proof::Expired => params.not_after = date_time_ymd(2020, 1, 1),
        Proof::NotYetValid => params.not_before = date_time_ymd(4000, 1, 1),
        Proof::OfAnotherUse => params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth],
        Proof::OfNoAuthority => {
            let (holders_chain, holders_key) = issue(&authority.issuer, leaf());
            let holders_key = KeyPair::try_from(&holders_key).expect("key");
            let (mut chain, key) = issue(&Issuer::new(leaf(), holders_key), params);
            chain.extend(holders_chain);
            return Some((chain, key));
        }
    }
    Some(issue(&authority.issuer, params))
}

fn leaf() -> CertificateParams {
    let mut params = CertificateParams::new(vec![CLIENT_NAME.to_owned()]).expect("parameters");
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    params
}

fn issue(issuer: &Issuer<'static, KeyPair>, params: CertificateParams) -> Party {
    let key = KeyPair::generate().expect("key");
    let certificate = params.signed_by(&key, issuer).expect("certificate");
    (vec![certificate.der().clone()], PrivatePkcs8KeyDer::from(key.serialize_der()).into())
}
