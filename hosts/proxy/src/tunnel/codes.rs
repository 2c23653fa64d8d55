// SPDX-License-Identifier: Apache-2.0
//! Why a conduit ended before its time: application error codes of RESET_STREAM and STOP_SENDING (RFC 9000, 19.4).

use std::fmt;

use noq_proto::VarInt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Abort {
    /// The TCP connection at the other end was reset.
    Reset,
    /// The destination refused the connection.
    Refused,
    /// The destination could not be reached.
    Unreachable,
    /// The server does not allow the destination.
    NotAllowed,
    /// The server has as many connections as it may have.
    TooMany,
    /// Its reader took nothing for too long while others waited for the buffer.
    SlowReader,
    /// The other end did not understand the opening.
    Malformed,
    /// The tunnel was lost.
    TunnelLost,
    /// A code of a newer version.
    Unknown,
}

impl Abort {
    pub const ALL: [Self; 9] = [
        Self::Reset,
        Self::Refused,
        Self::Unreachable,
        Self::NotAllowed,
        Self::TooMany,
        Self::SlowReader,
        Self::Malformed,
        Self::TunnelLost,
        Self::Unknown,
    ];

    /// As metrics and the log call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reset => "reset",
            Self::Refused => "refused",
            Self::Unreachable => "unreachable",
            Self::NotAllowed => "not_allowed",
            Self::TooMany => "too_many",
            Self::SlowReader => "slow_reader",
            Self::Malformed => "malformed",
            Self::TunnelLost => "tunnel_lost",
            Self::Unknown => "unknown",
        }
    }

    pub(super) fn code(self) -> VarInt {
        let position = Self::ALL.iter().position(|each| *each == self).unwrap_or(Self::ALL.len() - 1);
        VarInt::from_u32(position as u32 + 1)
    }

    pub(super) fn from_code(code: VarInt) -> Self {
        let position = code.into_inner().wrapping_sub(1) as usize;
        Self::ALL.get(position).copied().unwrap_or(Self::Unknown)
    }
}

impl fmt::Display for Abort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_come_back() {
        for abort in Abort::ALL {
            assert_eq!(Abort::from_code(abort.code()), abort);
        }
        assert_eq!(Abort::from_code(VarInt::from_u32(0)), Abort::Unknown);
        assert_eq!(Abort::from_code(VarInt::MAX), Abort::Unknown);
    }
}
