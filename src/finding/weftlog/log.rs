//! The file: its lines, their numbers and hashes, and the numbers that a broker gives out.

use std::fmt::{self, Write as _};

use weft_net::VAddr;

use crate::truth::ident::{Ident, MAX_IDENTS};
use crate::world::network::address;

/// The broker of the log adds no delay of its own to the time that a send names.
const HEADER: &str = r#"{"format":"weft-log","version":2,"seed":0,"net":"latency=fixed:0","window_ns":0,"meta":{}}"#;

/// The start of a 64-bit FNV-1a hash, and its multiplier.
const FNV: (u64, u64) = (0xcbf2_9ce4_8422_2325, 0x0000_0100_0000_01b3);

/// A log that is being written.
#[derive(Clone, Debug)]
pub(super) struct Log {
    text: String,
    chain: u64,
    /// How many operations there are.
    operations: u64,
    /// The latest delivery so far.
    vt: u64,
    sent: u64,
    /// How many datagrams have been queued.
    ties: u64,
    /// How many datagrams have been sent on each channel; the last receiver is no node.
    channels: [[u64; MAX_IDENTS + 1]; MAX_IDENTS],
    /// How many connections there have been.
    opened: u64,
}

/// A datagram that is sent.
#[derive(Clone, Copy)]
pub(super) struct Sending<'a> {
    pub(super) conn: u64,
    pub(super) from: Ident,
    pub(super) to: VAddr,
    /// The receiver's number among those that the sender has a channel to.
    pub(super) channel: usize,
    pub(super) payload: &'a [u8],
}

/// Where a datagram waits, as in the broker's queues.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queued {
    pub(super) at: Ident,
    pub(super) due: u64,
    pub(super) tie: u64,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            text: format!("{HEADER}\n"),
            chain: fnv(FNV.0, HEADER),
            operations: 0,
            vt: 0,
            sent: 0,
            ties: 0,
            channels: [[0; MAX_IDENTS + 1]; MAX_IDENTS],
            opened: 0,
        }
    }
}

impl Log {
    /// The latest delivery so far.
    pub(super) fn vt(&self) -> u64 {
        self.vt
    }

    /// Writes the totals, and returns the log.
    pub(super) fn finish(mut self) -> String {
        let (events, sent) = (self.operations + 1, self.sent);
        self.append(format_args!(r#"{{"k":"end","events":{events},"sent":{sent},"dropped":0}}"#));
        self.text
    }

    /// Writes an operation with its number, the time, and the hash.
    fn append(&mut self, event: fmt::Arguments<'_>) {
        let (number, vt) = (self.operations, self.vt);
        let record = format!(r#"{{"op":{number},"vt":{vt},"e":{event}"#);
        self.chain = fnv(fnv(self.chain, &record), "}");
        let _ = writeln!(self.text, r#"{record},"chain":"{:016x}"}}"#, self.chain);
        self.operations += 1;
    }

    /// Opens the next connection, at this address, and returns its number.
    pub(super) fn connect(&mut self, at: VAddr) -> u64 {
        let conn = self.opened;
        self.opened += 1;
        self.append(format_args!(r#"{{"k":"connect","conn":{conn}}}"#));
        self.append(format_args!(r#"{{"k":"bind","conn":{conn},"addr":{}}}"#, Json(at)));
        conn
    }

    /// Writes a send to this connection, due then, and returns its number in the queues; without either, to nobody.
    pub(super) fn send(&mut self, sending: Sending<'_>, due: Option<(u64, u64)>) -> u64 {
        let Sending { conn, from, to, channel, payload } = sending;
        let seq = self.channels[from.index()][channel];
        self.channels[from.index()][channel] += 1;
        self.sent += 1;
        let tie = self.ties;
        let (time, outcome) = match due {
            Some((to_conn, time)) => {
                self.ties += 1;
                self.vt = self.vt.max(time);
                (time, format!(r#"{{"kind":"enqueued","to_conn":{to_conn},"deliv_ns":{time},"tie":{tie}}}"#))
            }
            None => (self.vt, r#"{"kind":"no_receiver"}"#.to_owned()),
        };
        self.append(format_args!(
            r#"{{"k":"send","conn":{conn},"src":{},"dst":{},"chan_seq":{seq},"send_vt":{time},"payload":"{}","outcome":{outcome}}}"#,
            Json(address(from)),
            Json(to),
            Hex(payload),
        ));
        tie
    }

    /// Writes that this connection receives what waited there.
    pub(super) fn receive(&mut self, conn: u64, from: Ident, queued: Queued, payload: &[u8]) {
        let Queued { at, due, tie } = queued;
        self.append(format_args!(
            r#"{{"k":"recv","conn":{conn},"blocking":false,"outcome":{{"kind":"delivered","src":{},"dst":{},"deliv_ns":{due},"tie":{tie},"payload":"{}"}}}}"#,
            Json(address(from)),
            Json(address(at)),
            Hex(payload),
        ));
    }

    /// Closes this connection.
    pub(super) fn disconnect(&mut self, conn: u64) {
        self.append(format_args!(r#"{{"k":"disconnect","conn":{conn}}}"#));
    }
}

/// Goes on with an FNV-1a hash.
fn fnv(hash: u64, text: &str) -> u64 {
    text.bytes().fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(FNV.1))
}

/// An address as JSON.
struct Json(VAddr);

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, r#"{{"ip":{},"port":{}}}"#, self.0.ip, self.0.port)
    }
}

/// Bytes in hexadecimal digits.
struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
