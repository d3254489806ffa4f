//! An append-only file of batches. A batch is on the disk when append() returns, whole or not at
//! all: what a kill or a power cut leaves of one at the end of the file is removed when it is
//! opened.
//!
//! The file begins with HEADER. A batch is a frame and a body of bytes. The frame has three numbers
//! of four bytes, the lowest first: the length of the body, its CRC-32C, and the CRC-32C of those
//! two.
#![forbid(unsafe_code)]

use crate::abi::{DATA_LOSS, RESOURCE_EXHAUSTED, UNAVAILABLE};
use crate::fault::Fault;
use crate::lock::lock;
use std::fs::{File, OpenOptions};
use std::io::{Error, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

const HEADER: &[u8] = b"davit log in rust, 1\n";
const FRAME: usize = 12;

const fn table_of_crc() -> [u32; 256] {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        let mut crc = i as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = (crc >> 1) ^ if crc & 1 != 0 { 0x82f6_3b78 } else { 0 };
            bit += 1;
        }
        table[i] = crc;
        i += 1;
    }
    table
}
static TABLE: [u32; 256] = table_of_crc();

fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, b| TABLE[((crc ^ u32::from(*b)) & 0xff) as usize] ^ (crc >> 8))
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn frame_of(size: u32, body: &[u8]) -> Vec<u8> {
    let mut frame = size.to_le_bytes().to_vec();
    frame.extend_from_slice(&crc32c(body).to_le_bytes());
    frame.extend_from_slice(&crc32c(&frame).to_le_bytes());
    frame
}

/// The size that a whole frame at the front states.
fn size_of(bytes: &[u8]) -> Option<usize> {
    let frame = bytes.get(..FRAME)?;
    (number(&frame[8..]) == crc32c(&frame[..8])).then(|| number(&frame[..4]) as usize)
}

/// The body of the batch at the front. None: there is no whole one.
fn batch(bytes: &[u8]) -> Option<&[u8]> {
    let body = bytes[FRAME.min(bytes.len())..].get(..size_of(bytes)?)?;
    (number(&bytes[4..8]) == crc32c(body)).then_some(body)
}

/// Only the last batch can be torn: the one before it was on the disk before it was begun. So what
/// is no whole batch is damaged when it ends before the file does, by its frame; or, when the frame
/// is unreadable, when a whole batch is behind it.
fn is_damaged(rest: &[u8]) -> bool {
    match size_of(rest) {
        Some(size) => FRAME + size < rest.len(),
        None => (1..rest.len()).any(|at| batch(&rest[at..]).is_some()),
    }
}

/// The name of a new file must survive a power cut, too.
fn keep_name(path: &str) -> Result<(), Fault> {
    let folder = match Path::new(path).parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let kept = File::open(folder).and_then(|folder| folder.sync_all());
    kept.map_err(|e| failed(path, "its folder cannot be synchronised", &e))
}

fn failed(path: &str, what: &str, error: &Error) -> Fault {
    Fault::new(UNAVAILABLE, format!("{path}: {what}: {error}")).at(path)
}

#[derive(Debug)]
pub struct Log {
    path: String,
    file: File,
    end: u64,
    broken: bool,
}

impl Log {
    /// Opens the file, or makes it, and gives the bodies of all its batches to `replay` in their
    /// order; false says that it does not know one. UNAVAILABLE when another process has the file
    /// open. DATA_LOSS when it is damaged before its end: then nothing is cut off.
    pub fn open(path: &str, mut replay: impl FnMut(&[u8]) -> bool) -> Result<Log, Fault> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).mode(0o600);
        let mut file = options.open(path).map_err(|e| failed(path, "cannot be opened", &e))?;
        if !lock(&file).map_err(|e| failed(path, "cannot be locked", &e))? {
            let message = format!("{path}: another process has it open; end that one first");
            return Err(Fault::new(UNAVAILABLE, message).at(path));
        }
        keep_name(path)?;
        let mut all = Vec::new();
        file.read_to_end(&mut all).map_err(|e| failed(path, "cannot be read", &e))?;
        let lost = |what: String| Fault::new(DATA_LOSS, format!("{path}: {what}")).at(path);
        let mut log = Log { path: path.into(), file, end: HEADER.len() as u64, broken: false };
        if all.len() < HEADER.len() && HEADER.starts_with(&all) {
            log.begin()?;
            return Ok(log);
        }
        let mut rest = all.strip_prefix(HEADER).ok_or_else(|| {
            lost("is no log of this plugin; name another file with \"path\"".into())
        })?;
        while let Some(body) = batch(rest) {
            if !replay(body) {
                return Err(lost("has an entry that is not known: install a newer version".into()));
            }
            rest = &rest[FRAME + body.len()..];
        }
        if is_damaged(rest) {
            return Err(lost(format!("damaged {} bytes before its end", rest.len())));
        }
        log.end = (all.len() - rest.len()) as u64;
        if !rest.is_empty() {
            log.cut().map_err(|e| failed(path, "cannot be cut to its last batch", &e))?;
        }
        Ok(log)
    }

    fn begin(&self) -> Result<(), Fault> {
        let written = self.file.write_all_at(HEADER, 0).and_then(|()| self.file.sync_all());
        written.map_err(|e| failed(&self.path, "cannot be made", &e))
    }

    fn cut(&self) -> Result<(), Error> {
        self.file.set_len(self.end)?;
        self.file.sync_data()
    }

    /// An error: nothing of the batch is in the file, or nobody knows. Then every later append
    /// fails, and the next open() finds out.
    pub fn append(&mut self, body: &[u8]) -> Result<(), Fault> {
        if self.broken {
            let message = "an earlier write failed; restart to read what is there";
            return Err(Fault::new(UNAVAILABLE, message).at(&self.path));
        }
        let size = u32::try_from(body.len())
            .map_err(|_| Fault::new(RESOURCE_EXHAUSTED, "a batch is above 4 GiB"))?;
        let frame = frame_of(size, body);
        let written = self
            .file
            .write_all_at(&frame, self.end)
            .and_then(|()| self.file.write_all_at(body, self.end + FRAME as u64));
        if let Err(error) = written {
            self.broken = self.cut().is_err();
            return Err(failed(&self.path, "cannot write", &error));
        }
        // After a failed fdatasync the kernel may have dropped the pages: a second one proves
        // nothing.
        if let Err(error) = self.file.sync_data() {
            self.broken = true;
            return Err(failed(&self.path, "cannot synchronise", &error));
        }
        self.end += (FRAME + body.len()) as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path of a test's own, removed at its end.
    struct Place(String);
    impl Place {
        fn new(test: &str) -> Place {
            let name = format!("davit-log-{}-{test}", std::process::id());
            Place(std::env::temp_dir().join(name).to_str().unwrap().into())
        }
        fn open(&self) -> Result<(Log, Vec<Vec<u8>>), Fault> {
            let mut found = Vec::new();
            let log = Log::open(&self.0, |body| {
                found.push(body.to_vec());
                true
            })?;
            Ok((log, found))
        }
        /// Makes a file with these batches, and returns its bytes.
        fn filled(&self, bodies: &[&[u8]]) -> Vec<u8> {
            let (mut log, _) = self.open().unwrap();
            bodies.iter().for_each(|body| log.append(body).unwrap());
            std::fs::read(&self.0).unwrap()
        }
    }
    impl Drop for Place {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    #[test]
    fn the_checksum_is_crc32c() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
    }

    #[test]
    fn a_torn_tail_is_cut_wherever_it_is_torn() {
        let place = Place::new("torn");
        let all = place.filled(&[b"first", b"second"]);
        let whole = HEADER.len() + FRAME + b"first".len();
        for end in 0..all.len() {
            std::fs::write(&place.0, &all[..end]).unwrap();
            let (mut log, found) = place.open().unwrap();
            assert_eq!(found.len(), (end >= whole).into(), "cut at {end}");
            log.append(b"later").unwrap();
            drop(log);
            assert_eq!(place.open().unwrap().1.last().unwrap(), b"later");
        }
    }

    #[test]
    fn a_tail_that_never_reached_the_disk_is_cut() {
        let place = Place::new("zeros");
        let mut all = place.filled(&[b"first", b"second"]);
        all[HEADER.len() + FRAME + b"first".len()..].fill(0);
        std::fs::write(&place.0, &all).unwrap();
        assert_eq!(place.open().unwrap().1, [b"first"]);
    }

    #[test]
    fn damage_before_the_end_is_refused_and_nothing_is_cut() {
        let place = Place::new("damage");
        let all = place.filled(&[b"first", b"second"]);
        for at in 0..HEADER.len() + FRAME + b"first".len() {
            let mut bytes = all.clone();
            bytes[at] ^= 0x40;
            std::fs::write(&place.0, &bytes).unwrap();
            assert_eq!(place.open().unwrap_err().code, DATA_LOSS, "byte {at}");
            assert_eq!(std::fs::read(&place.0).unwrap(), bytes);
        }
    }

    #[test]
    fn one_process_at_a_time_has_the_file() {
        let place = Place::new("lock");
        let first = place.open().unwrap();
        let fault = place.open().unwrap_err();
        assert_eq!(fault.code, UNAVAILABLE);
        assert!(fault.message.contains("another process has it open"), "{}", fault.message);
        drop(first);
        place.open().unwrap();
    }
}
