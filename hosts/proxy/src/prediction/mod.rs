// SPDX-License-Identifier: Apache-2.0
//! Predicting losses, as BoostTCP does (Sensors 2022, 22(23), 9187): each packet that is not acknowledged has a
//! probability to be lost, which grows while it waits; at a threshold its datagram is sent once more, as it was, and
//! no stream waits for QUIC's timeout.
//!
//! `estimate` is the probability, `resend` keeps datagrams and decides, `allowance` bounds what that may cost. `tap`
//! listens to what noq tells a congestion controller. [`Prediction`] is all of one tunnel.
//!
//! The second datagram has the packet number of the first. To the peer it is one that the network has doubled, which
//! it has to discard (RFC 9000, 12.3), and its acknowledgement is that of the first. Nothing is encrypted twice: the
//! nonce goes with the same text (RFC 9001, 5.3). To the letter of RFC 9000, 12.3 a sender uses no number twice.

mod allowance;
mod estimate;
mod resend;
mod tap;

pub use resend::Counts;
pub use tap::Prediction;
