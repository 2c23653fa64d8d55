// SPDX-License-Identifier: Apache-2.0
//! What an event of the poll is about.

use mio::Token;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Timer,
    Signals,
    /// A socket of tunnels, by its number.
    Udp(usize),
    Listener(usize),
    Tcp(usize),
}

const KINDS: usize = 5;

impl From<Source> for Token {
    fn from(source: Source) -> Self {
        let (kind, number) = match source {
            Source::Timer => (0, 0),
            Source::Signals => (1, 0),
            Source::Udp(number) => (2, number),
            Source::Listener(number) => (3, number),
            Source::Tcp(number) => (4, number),
        };
        Token(number * KINDS + kind)
    }
}

impl From<Token> for Source {
    fn from(token: Token) -> Self {
        let number = token.0 / KINDS;
        match token.0 % KINDS {
            0 => Self::Timer,
            1 => Self::Signals,
            2 => Self::Udp(number),
            3 => Self::Listener(number),
            _ => Self::Tcp(number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_back() {
        for source in [Source::Timer, Source::Signals, Source::Udp(0), Source::Listener(7), Source::Tcp(4095)]
        {
            assert_eq!(Source::from(Token::from(source)), source);
        }
    }
}
