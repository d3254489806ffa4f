//! The lock of a file, which the standard library of Rust 1.63 does not have.

use std::fs::File;
use std::io;
use std::os::unix::io::AsRawFd;

const LOCK_EX: i32 = 2;
const LOCK_NB: i32 = 4;

extern "C" {
    fn flock(file: i32, operation: i32) -> i32;
}

/// Takes the lock for as long as the file is open, also when the process is killed. False: another
/// process has it.
pub fn lock(file: &File) -> io::Result<bool> {
    if unsafe { flock(file.as_raw_fd(), LOCK_EX | LOCK_NB) } == 0 {
        return Ok(true);
    }
    let error = io::Error::last_os_error();
    match error.kind() {
        io::ErrorKind::WouldBlock => Ok(false),
        _ => Err(error),
    }
}
