// SPDX-License-Identifier: Apache-2.0
//! A private CA, the certificates that it signs, and what TLS makes of them. Both ends prove themselves; who has a
//! certificate of this CA may use the tunnel.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail, ensure};
use noq_proto::ConnectionError;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose,
};
use rustls::RootCertStore;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use time::{Duration, OffsetDateTime};
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::config::{Config, Identity};
use crate::options::is_file_name;

/// Both ends have to speak the same protocol inside.
const ALPN: &[u8] = b"clarion-proxy/1";
const CA_DAYS: i64 = 3650;
/// Clocks of two machines may differ by so much.
const CLOCK_LEEWAY: Duration = Duration::hours(1);
/// The only value that QUIC allows besides 0 (RFC 9001, 4.6.1).
const EARLY_DATA_BYTES: u32 = u32::MAX;

/// Makes a CA in a directory; returns its files.
pub fn init(directory: &Path) -> Result<[PathBuf; 2]> {
    let paths = [directory.join("ca.pem"), directory.join("ca.key")];
    for path in &paths {
        ensure!(!path.exists(), "{} is there already: all keys that it signed would be void", path.display());
    }
    fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
    let key = KeyPair::generate()?;
    let certificate = ca_params().self_signed(&key)?;
    write(&paths[1], &key.serialize_pem())?;
    write(&paths[0], &certificate.pem())?;
    Ok(paths)
}

/// Issues a certificate, good for a client and for a server; returns its files.
pub fn issue(directory: &Path, name: &str, days: u32) -> Result<[PathBuf; 2]> {
    ensure!(
        is_file_name(name) && name != "ca",
        "{name:?}: letters, digits, dots and hyphens only, and not ca"
    );
    ensure!((1..=CA_DAYS as u32).contains(&days), "--days {days}: 1 to {CA_DAYS}");
    let paths = [directory.join(format!("{name}.pem")), directory.join(format!("{name}.key"))];
    let key_path = directory.join("ca.key");
    let ca_key = fs::read_to_string(&key_path)
        .with_context(|| format!("cannot read {}: clarion-proxy keys init makes it", key_path.display()))?;
    let ca_key = KeyPair::from_pem(&ca_key).with_context(|| format!("{} is no key", key_path.display()))?;
    let ca_path = directory.join("ca.pem");
    let ca = fs::read_to_string(&ca_path).with_context(|| format!("cannot read {}", ca_path.display()))?;
    let issuer = Issuer::from_ca_cert_pem(&ca, ca_key)
        .with_context(|| format!("{} is no certificate", ca_path.display()))?;
    let key = KeyPair::generate()?;
    let certificate = leaf_params(name, days)?.signed_by(&key, &issuer)?;
    write(&paths[1], &key.serialize_pem())?;
    write(&paths[0], &certificate.pem())?;
    Ok(paths)
}

fn ca_params() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = named("clarion-proxy CA");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let now = OffsetDateTime::now_utc();
    (params.not_before, params.not_after) = (now - CLOCK_LEEWAY, now + Duration::days(CA_DAYS));
    params
}

fn leaf_params(name: &str, days: u32) -> Result<CertificateParams> {
    let mut params = CertificateParams::new(vec![name.to_owned()])?;
    params.distinguished_name = named(name);
    params.use_authority_key_identifier_extension = true;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    let now = OffsetDateTime::now_utc();
    (params.not_before, params.not_after) = (now - CLOCK_LEEWAY, now + Duration::days(days.into()));
    Ok(params)
}

fn named(name: &str) -> DistinguishedName {
    let mut distinguished = DistinguishedName::new();
    distinguished.push(DnType::CommonName, name);
    distinguished
}

/// Replaces a file as a whole, readable by its owner only.
fn write(path: &Path, contents: &str) -> Result<()> {
    let draft = path.with_extension("new");
    let _ = fs::remove_file(&draft);
    let written = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)
        .and_then(|mut file| file.write_all(contents.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&draft, path));
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// TLS of a server, which lets in who has a certificate of the CA.
pub fn server_config(identity: &Identity) -> Result<Arc<rustls::ServerConfig>> {
    let own = Own::read(identity)?;
    let provider = provider();
    let verifier = WebPkiClientVerifier::builder_with_provider(own.roots, provider.clone()).build()?;
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_client_cert_verifier(verifier)
        .with_single_cert(own.chain, own.key)
        .map_err(|error| unfit(identity, &error))?;
    config.max_early_data_size = EARLY_DATA_BYTES;
    config.alpn_protocols = vec![ALPN.to_vec()];
    Ok(Arc::new(config))
}

/// TLS of a client.
pub fn client_config(identity: &Identity) -> Result<Arc<rustls::ClientConfig>> {
    let own = Own::read(identity)?;
    let mut config = rustls::ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_root_certificates(own.roots)
        .with_client_auth_cert(own.chain, own.key)
        .map_err(|error| unfit(identity, &error))?;
    config.enable_early_data = true;
    config.alpn_protocols = vec![ALPN.to_vec()];
    Ok(Arc::new(config))
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn unfit(identity: &Identity, error: &rustls::Error) -> anyhow::Error {
    anyhow!("{} does not belong to {}: {error}", identity.key.display(), identity.certificate.display())
}

/// What the files of an identity hold, once it is known to be good.
struct Own {
    roots: Arc<RootCertStore>,
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

impl Own {
    fn read(identity: &Identity) -> Result<Self> {
        let ca = certificates(&identity.ca)?;
        let chain = certificates(&identity.certificate)?;
        let key =
            PrivateKeyDer::from_pem_file(&identity.key).map_err(|error| unreadable(&identity.key, &error))?;
        check(&ca[0], &identity.ca)?;
        check(&chain[0], &identity.certificate)?;
        check_signature(&ca[0], &chain[0], identity)?;
        let mut roots = RootCertStore::empty();
        for certificate in ca {
            roots.add(certificate).with_context(|| format!("{} is no CA", identity.ca.display()))?;
        }
        Ok(Self { roots: Arc::new(roots), chain, key })
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    let read = read.map_err(|error| unreadable(path, &error))?;
    ensure!(!read.is_empty(), "{} holds no certificate: clarion-proxy keys issue makes one", path.display());
    Ok(read)
}

fn unreadable(path: &Path, error: &rustls::pki_types::pem::Error) -> anyhow::Error {
    anyhow!(
        "cannot read {} ({error}): clarion-proxy keys init and keys issue make such files",
        path.display()
    )
}

/// Is it a certificate, and of today?
fn check(certificate: &CertificateDer<'_>, path: &Path) -> Result<()> {
    let Ok((_, parsed)) = X509Certificate::from_der(certificate) else {
        bail!("{} is no certificate", path.display());
    };
    let (now, validity) = (OffsetDateTime::now_utc().unix_timestamp(), parsed.validity());
    let at = path.display();
    ensure!(
        now <= validity.not_after.timestamp(),
        "{at} has expired on {}: clarion-proxy keys issue makes another one",
        validity.not_after
    );
    ensure!(
        now >= validity.not_before.timestamp(),
        "{at} is not valid before {}: is the clock of this machine right?",
        validity.not_before
    );
    Ok(())
}

fn check_signature(ca: &CertificateDer<'_>, own: &CertificateDer<'_>, identity: &Identity) -> Result<()> {
    let (Ok((_, ca)), Ok((_, own))) = (X509Certificate::from_der(ca), X509Certificate::from_der(own)) else {
        return Ok(()); // known to be certificates by now
    };
    ensure!(
        own.verify_signature(Some(ca.public_key())).is_ok(),
        "{} is not signed by {}: use the keys of one directory",
        identity.certificate.display(),
        identity.ca.display()
    );
    Ok(())
}

/// In a person's words, why a tunnel did not come about, if it is about certificates.
pub fn explain(reason: &ConnectionError, config: &Config) -> Option<String> {
    let (ConnectionError::TransportError(_) | ConnectionError::ConnectionClosed(_)) = reason else {
        return None;
    };
    let text = reason.to_string();
    let has = |word: &str| text.to_ascii_lowercase().replace([' ', '_'], "").contains(word);
    let own = config.identity.certificate.display();
    let ca = config.identity.ca.display();
    let by_peer = matches!(reason, ConnectionError::ConnectionClosed(_));
    let what = match by_peer {
        true if has("expired") => format!("the other end says that {own} has expired"),
        true if has("unknownca") || has("decrypterror") || has("badcertificate") || has("unknownissuer") => {
            format!("the other end does not know the CA of {own}: both ends need certificates of one CA")
        }
        true if has("noapplicationprotocol") => {
            "the other end speaks another version of clarion-proxy".to_owned()
        }
        false if has("notvalidforname") => {
            "the certificate of the other end has another name: --peer-name says which is expected".to_owned()
        }
        false if has("expired") => "the certificate of the other end has expired".to_owned(),
        false if has("unknownissuer") || has("badsignature") || has("invalidcertificate") => {
            format!(
                "the certificate of the other end is not signed by {ca}: both ends need certificates of one CA"
            )
        }
        _ => return None,
    };
    Some(what)
}
