//! The datagrams of all versions: at most [`MAX_DATAGRAM`] bytes.
//!
//! | bytes | meaning |
//! |---|---|
//! | 0 | kind: 0 notify; 1 to 4 the requests alive, state, successor, admit; 5 to 9 the answers alive, state, not a member, refused, busy |
//! | 1-4 | the request's number, little-endian (not in a notify) |
//! | 5 | predecessor, 255 for none (a state only) |
//! | 6-8 | the successor list, as long as it is (a state only) |
//!
//! Who sent a datagram is the sender's address. Whatever is not exactly of this form is malformed.

use arrayvec::ArrayVec;

use crate::protocol::replica::{Answer, Ask, Message};
use crate::truth::ident::{Ident, MAX_IDENTS};
use crate::truth::snapshot::{MAX_LIST, SuccList};

/// The longest datagram in bytes.
pub const MAX_DATAGRAM: usize = 6 + MAX_LIST;

/// An encoded message.
pub type Datagram = ArrayVec<u8, MAX_DATAGRAM>;

const NO_PRDC: u8 = u8::MAX;

/// The bytes of a message.
#[must_use]
pub fn encode(message: &Message) -> Datagram {
    let (kind, nonce) = match *message {
        Message::Notify => (0, None),
        Message::Request { nonce, ask } => {
            let kind = match ask {
                Ask::Alive => 1,
                Ask::State => 2,
                Ask::Successor => 3,
                Ask::Admit => 4,
            };
            (kind, Some(nonce))
        }
        Message::Answer { nonce, answer } => {
            let kind = match answer {
                Answer::Alive => 5,
                Answer::State { .. } => 6,
                Answer::NotMember => 7,
                Answer::Refused => 8,
                Answer::Busy => 9,
            };
            (kind, Some(nonce))
        }
    };
    let mut bytes = Datagram::new();
    bytes.push(kind);
    if let Some(nonce) = nonce {
        bytes.extend(nonce.to_le_bytes());
    }
    if let Message::Answer { answer: Answer::State { list, prdc }, .. } = message {
        bytes.push(prdc.map_or(NO_PRDC, Ident::get));
        bytes.extend(list.as_slice().iter().map(|x| x.get()));
    }
    bytes
}

/// The message that these bytes mean, or `None` if they are malformed.
#[must_use]
pub fn decode(bytes: &[u8]) -> Option<Message> {
    let (&kind, rest) = bytes.split_first()?;
    if kind == 0 {
        return rest.is_empty().then_some(Message::Notify);
    }
    let (nonce, state) = rest.split_first_chunk()?;
    let nonce = u32::from_le_bytes(*nonce);
    if kind == 6 {
        let (&prdc, list) = state.split_first()?;
        let prdc = if prdc == NO_PRDC { None } else { Some(ident(prdc)?) };
        if list.len() > MAX_LIST || list.iter().any(|&x| ident(x).is_none()) {
            return None;
        }
        let list = SuccList::of(list.iter().filter_map(|&x| ident(x)));
        return Some(Message::Answer { nonce, answer: Answer::State { list, prdc } });
    }
    if !state.is_empty() {
        return None;
    }
    Some(match kind {
        1 => Message::Request { nonce, ask: Ask::Alive },
        2 => Message::Request { nonce, ask: Ask::State },
        3 => Message::Request { nonce, ask: Ask::Successor },
        4 => Message::Request { nonce, ask: Ask::Admit },
        5 => Message::Answer { nonce, answer: Answer::Alive },
        7 => Message::Answer { nonce, answer: Answer::NotMember },
        8 => Message::Answer { nonce, answer: Answer::Refused },
        9 => Message::Answer { nonce, answer: Answer::Busy },
        _ => return None,
    })
}

fn ident(raw: u8) -> Option<Ident> {
    (usize::from(raw) < MAX_IDENTS).then(|| Ident::new(raw))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn messages() -> impl Strategy<Value = Message> {
        let ident = || (0u8..16).prop_map(Ident::new);
        let ask = prop_oneof![Just(Ask::Alive), Just(Ask::State), Just(Ask::Successor), Just(Ask::Admit)];
        let state = (prop::collection::vec(ident(), 0..=MAX_LIST), prop::option::of(ident()))
            .prop_map(|(list, prdc)| Answer::State { list: SuccList::of(list), prdc });
        let answer =
            prop_oneof![Just(Answer::Alive), state, Just(Answer::NotMember), Just(Answer::Refused), Just(Answer::Busy)];
        prop_oneof![
            Just(Message::Notify),
            (any::<u32>(), ask).prop_map(|(nonce, ask)| Message::Request { nonce, ask }),
            (any::<u32>(), answer).prop_map(|(nonce, answer)| Message::Answer { nonce, answer }),
        ]
    }

    proptest! {
        #[test]
        fn messages_come_back(message in messages()) {
            let bytes = encode(&message);
            prop_assert!(bytes.len() <= 32);
            prop_assert_eq!(decode(&bytes), Some(message));
        }

        /// Nothing is read that is not written again the same: no malformed datagram passes for another.
        #[test]
        fn whatever_decodes_is_exactly_what_encodes(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Some(message) = decode(&bytes) {
                let again = encode(&message);
                prop_assert_eq!(again.as_slice(), bytes.as_slice());
            }
        }

        #[test]
        fn truncated_and_padded_datagrams_are_malformed(message in messages(), cut in 0usize..9, more in any::<u8>()) {
            let bytes = encode(&message);
            let is_state = matches!(message, Message::Answer { answer: Answer::State { .. }, .. });
            if cut < bytes.len() && !(is_state && cut >= 6) {
                prop_assert_eq!(decode(&bytes[..cut]), None);
            }
            let mut padded = bytes.to_vec();
            padded.push(more | 0x10);
            prop_assert_eq!(decode(&padded), None);
        }
    }

    #[test]
    fn golden_bytes() {
        let list = SuccList::of([3, 0].map(Ident::new));
        let state = Message::Answer { nonce: 0x0102_0304, answer: Answer::State { list, prdc: None } };
        assert_eq!(encode(&state).as_slice(), [6, 4, 3, 2, 1, 255, 3, 0]);
        assert_eq!(encode(&Message::Notify).as_slice(), [0]);
        assert_eq!(encode(&Message::Request { nonce: 7, ask: Ask::Admit }).as_slice(), [4, 7, 0, 0, 0]);
    }

    #[test]
    fn malformed_datagrams() {
        for bytes in [&[][..], &[0, 0], &[1], &[1, 0, 0, 0], &[10, 0, 0, 0, 0], &[6, 0, 0, 0, 0], &[6, 0, 0, 0, 0, 16]]
        {
            assert_eq!(decode(bytes), None, "{bytes:?}");
        }
        assert_eq!(decode(&[6, 0, 0, 0, 0, 1, 1, 2, 3, 4]), None, "a list of four");
        assert_eq!(decode(&[6, 0, 0, 0, 0, 1, 1, 77]), None, "an identifier of no circle");
    }
}
