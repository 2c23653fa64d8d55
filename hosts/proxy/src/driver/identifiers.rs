// SPDX-License-Identifier: Apache-2.0
//! Connection identifiers (RFC 9000, 5.1) that begin with bytes of this program. All packets of a peer have one of
//! them in clear. Nobody knows those of a client who is not on the path, so the shim can tell its headers, which nothing
//! signs, from a stranger's; a server reveals its own to any client Initial. At that price an observer can tell
//! that two paths are of one tunnel (RFC 9000, 9.5).

use std::time::Duration;

use anyhow::{Result, anyhow};
use noq_proto::{ConnectionId, ConnectionIdGenerator};
use ring::rand::{SecureRandom, SystemRandom};

use crate::header::Guard;

const SECRET_BYTES: usize = 8;
const IDENTIFIER_BYTES: usize = SECRET_BYTES + 4;
/// In a packet with short header the identifier follows the first byte (RFC 9000, 17.3.1).
const OFFSET: u8 = 1;

#[derive(Clone)]
pub struct Secret([u8; SECRET_BYTES]);

impl Secret {
    pub fn new() -> Result<Self> {
        let mut bytes = [0; SECRET_BYTES];
        SystemRandom::new().fill(&mut bytes).map_err(|_| anyhow!("the kernel gives no random bytes"))?;
        Ok(Self(bytes))
    }

    pub fn guard(&self) -> Guard {
        Guard { at: OFFSET, bytes: self.0 }
    }

    pub fn generator(&self) -> Box<dyn ConnectionIdGenerator> {
        Box::new(Generator { secret: self.clone(), random: SystemRandom::new() })
    }
}

struct Generator {
    secret: Secret,
    random: SystemRandom,
}

impl ConnectionIdGenerator for Generator {
    fn generate_cid(&mut self) -> ConnectionId {
        let mut bytes = [0; IDENTIFIER_BYTES];
        bytes[..SECRET_BYTES].copy_from_slice(&self.secret.0);
        // Without random bytes two would be equal, and the library asks again until they differ.
        let _ = self.random.fill(&mut bytes[SECRET_BYTES..]);
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
    fn identifiers_begin_with_the_secret_and_differ() {
        let secret = Secret::new().expect("secret");
        let mut generator = secret.generator();
        let (one, other) = (generator.generate_cid(), generator.generate_cid());
        assert_eq!(one.len(), generator.cid_len());
        assert_eq!(one[..SECRET_BYTES], secret.guard().bytes);
        assert_eq!(other[..SECRET_BYTES], secret.guard().bytes);
        assert_ne!(one, other);
        assert_ne!(Secret::new().expect("secret").guard().bytes, secret.guard().bytes);
    }
}
