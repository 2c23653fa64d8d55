// SPDX-License-Identifier: Apache-2.0
//! Connection identifiers (RFC 9000, 5.1). Those of a tunnel begin with a secret of its own: all packets of its peer have
//! one of them in clear, and an attacker off the path does not know them, so the shim can tell the peer's headers, which
//! nothing signs, from an attacker's. At that price an observer can tell that two paths are of one tunnel (RFC 9000, 9.5).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Result, anyhow};
use noq_proto::{ConnectionId, ConnectionIdGenerator};
use ring::rand::{SecureRandom, SystemRandom};

const SECRET_BYTES: usize = 8;
const IDENTIFIER_BYTES: usize = SECRET_BYTES + 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Secret(pub [u8; SECRET_BYTES]);

impl Secret {
    pub fn new() -> Result<Self> {
        let mut bytes = [0; SECRET_BYTES];
        SystemRandom::new().fill(&mut bytes).map_err(|_| anyhow!("the kernel gives no random bytes"))?;
        Ok(Self(bytes))
    }
}

/// The library does not say for whom it wants an identifier, so it is said here while it may want one. Those that it wants
/// at other times, for strangers, tell nothing of any tunnel.
#[derive(Clone, Debug, Default)]
pub struct Identifiers(Arc<Mutex<Option<Secret>>>);

impl Identifiers {
    /// What the library does in `act`, it does for the tunnel of that secret.
    pub fn of<T>(&self, secret: Secret, act: impl FnOnce() -> T) -> T {
        self.set(Some(secret));
        let result = act();
        self.set(None);
        result
    }

    pub fn generator(&self) -> Box<dyn ConnectionIdGenerator> {
        Box::new(Generator { identifiers: self.clone(), random: SystemRandom::new() })
    }

    fn set(&self, secret: Option<Secret>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = secret;
    }

    fn secret(&self) -> Option<Secret> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Generator {
    identifiers: Identifiers,
    random: SystemRandom,
}

impl ConnectionIdGenerator for Generator {
    fn generate_cid(&mut self) -> ConnectionId {
        let mut bytes = [0; IDENTIFIER_BYTES];
        // Without random bytes two would be equal, and the library asks again until they differ.
        let _ = self.random.fill(&mut bytes);
        if let Some(Secret(secret)) = self.identifiers.secret() {
            bytes[..SECRET_BYTES].copy_from_slice(&secret);
        }
        ConnectionId::new(&bytes)
    }

    fn cid_len(&self) -> usize {
        IDENTIFIER_BYTES
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_of_a_tunnel_begin_with_its_secret_and_differ() {
        let (secret, identifiers) = (Secret::new().expect("secret"), Identifiers::default());
        let mut generator = identifiers.generator();
        let (one, other) = identifiers.of(secret, || (generator.generate_cid(), generator.generate_cid()));
        assert_eq!(one.len(), generator.cid_len());
        assert_eq!((&one[..SECRET_BYTES], &other[..SECRET_BYTES]), (&secret.0[..], &secret.0[..]));
        assert_ne!(one, other);
        assert_ne!(Secret::new().expect("secret"), secret);
        assert_ne!(generator.generate_cid()[..SECRET_BYTES], secret.0, "of no tunnel in particular");
    }
}
