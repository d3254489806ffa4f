//! The directory with a folder for each cluster. A folder is one cluster's from the moment on that
//! it has its name, since it is made under another name and then renamed. What a kill or a power
//! cut leaves is either such a folder, or one that says in its name whose it is:
//!
//! ```text
//! default_web/          a cluster: namespace_name
//!   .uid                whose it is
//!   kubeconfig          a file that the providerSpec names
//! .0b3f-....new/        is being made, and has no name yet
//! .0b3f-....gone/       is being removed, and has no name any more
//! ```
//!
//! A directory without the file `.here` is not the one: perhaps it is where a volume was to be
//! mounted. Every function then fails, so that nothing seems to be removed that could not be seen.

use crate::abi::{ALREADY_EXISTS, PERMISSION_DENIED, UNAVAILABLE};
use crate::fault::Fault;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::os::unix::io::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

const MARK: &str = ".here";
const UID_FILE: &str = ".uid";
/// A file that is being written.
const UNFINISHED: &str = ".new";

// Of <fcntl.h> and <errno.h>: the standard library does not name them.
const EROFS: i32 = 30;
#[cfg(any(target_arch = "arm", target_arch = "aarch64", target_arch = "powerpc64"))]
const FLAGS: (i32, i32) = (0o40_000, 0o100_000);
#[cfg(not(any(target_arch = "arm", target_arch = "aarch64", target_arch = "powerpc64")))]
const FLAGS: (i32, i32) = (0o200_000, 0o400_000);
const O_DIRECTORY: i32 = FLAGS.0;
const O_NOFOLLOW: i32 = FLAGS.1;

/// `what` is a name, and never the content of a file.
fn failed(what: &str) -> impl Fn(io::Error) -> Fault + '_ {
    move |why| {
        let refused =
            why.kind() == ErrorKind::PermissionDenied || why.raw_os_error() == Some(EROFS);
        let code = if refused { PERMISSION_DENIED } else { UNAVAILABLE };
        Fault::new(code, format!("{what}: {why}"))
    }
}

/// Nothing, when it is not there.
fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(there) => Ok(Some(there)),
        Err(why) if why.kind() == ErrorKind::NotFound => Ok(None),
        Err(why) => Err(why),
    }
}

/// A folder, open: what is done goes to the same one, also when it is moved meanwhile. The standard
/// library takes paths alone, and /proc has one of each open file.
struct Folder {
    file: File,
    name: String,
}

impl Folder {
    fn open(path: &Path, name: &str, flags: i32) -> io::Result<Folder> {
        let file = OpenOptions::new().read(true).custom_flags(O_DIRECTORY | flags).open(path)?;
        Ok(Folder { file, name: name.into() })
    }
    fn inner(&self, name: &str) -> io::Result<Folder> {
        Folder::open(&self.at(name), name, O_NOFOLLOW)
    }
    fn at(&self, name: impl AsRef<OsStr>) -> PathBuf {
        Path::new("/proc/self/fd").join(self.file.as_raw_fd().to_string()).join(name.as_ref())
    }
    /// What an error is about.
    fn said(&self, name: impl AsRef<OsStr>) -> String {
        format!("{}: {}", self.name, name.as_ref().to_string_lossy())
    }
    fn sync(&self) -> Result<(), Fault> {
        self.file.sync_all().map_err(failed(&self.name))
    }
    fn names(&self) -> Result<Vec<OsString>, Fault> {
        let list = fs::read_dir(self.at(".")).map_err(failed(&self.name))?;
        list.map(|entry| entry.map(|e| e.file_name()).map_err(failed(&self.name))).collect()
    }
    fn read(&self, name: impl AsRef<OsStr> + Copy) -> Result<Vec<u8>, Fault> {
        let mut out = Vec::new();
        OpenOptions::new()
            .read(true)
            .custom_flags(O_NOFOLLOW)
            .open(self.at(name))
            .and_then(|mut file| io::Read::read_to_end(&mut file, &mut out))
            .map_err(failed(&self.said(name)))?;
        Ok(out)
    }
    /// The file has its name when it is whole.
    fn write(&self, name: &str, content: &[u8]) -> Result<(), Fault> {
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .custom_flags(O_NOFOLLOW)
            .open(self.at(UNFINISHED))
            .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
            .and_then(|()| fs::rename(self.at(UNFINISHED), self.at(name)))
            .map_err(failed(&self.said(name)))
    }
    fn unlink(&self, name: impl AsRef<OsStr> + Copy) -> Result<(), Fault> {
        found(fs::remove_file(self.at(name))).map(|_| ()).map_err(failed(&self.said(name)))
    }
}

fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Each function returns when what it did is on the disk.
pub struct Disk {
    directory: Folder,
}

impl Disk {
    /// Makes the directory and its mark if there is no directory yet.
    pub fn make(path: &str) -> Result<(), Fault> {
        match private_folder(Path::new(path)) {
            Err(why) if why.kind() == ErrorKind::AlreadyExists => return Ok(()),
            made => made.map_err(failed(path))?,
        }
        let made = Folder::open(Path::new(path), path, O_NOFOLLOW).map_err(failed(path))?;
        made.write(MARK, b"folders of clusters\n")?;
        made.sync()
    }
    pub fn open(path: &str) -> Result<Disk, Fault> {
        let directory = Folder::open(Path::new(path), path, 0).map_err(failed(path))?;
        fs::metadata(directory.at(MARK)).map_err(failed(&directory.said(MARK)))?;
        Ok(Disk { directory })
    }
    fn folder(&self, name: &str) -> Result<Folder, Fault> {
        self.directory.inner(name).map_err(failed(name))
    }

    /// The uid of the cluster whose folder this is. Nothing: there is no such folder.
    pub fn owner(&self, folder: &str) -> Result<Option<Vec<u8>>, Fault> {
        let open = found(self.directory.inner(folder)).map_err(failed(folder))?;
        open.map(|open| open.read(UID_FILE)).transpose()
    }
    /// Makes the folder. ALREADY_EXISTS when somebody was faster.
    pub fn claim(&self, folder: &str, uid: &str) -> Result<(), Fault> {
        let name = format!(".{uid}.new");
        private_folder(&self.directory.at(&name)).map_err(failed(&name))?;
        let made = self.folder(&name)?;
        made.write(UID_FILE, uid.as_bytes())?;
        made.sync()?;
        // This fails when there is such a folder, since none of ours is empty.
        let to = self.directory.at(folder);
        fs::rename(self.directory.at(&name), &to).map_err(|why| {
            match fs::symlink_metadata(&to) {
                Ok(_) => another(folder),
                Err(_) => failed(folder)(why),
            }
        })?;
        self.directory.sync()
    }
    /// Removes what a kill has left of a file that was being written.
    pub fn clean(&self, folder: &str) -> Result<(), Fault> {
        self.folder(folder)?.unlink(UNFINISHED)
    }
    /// When the folder was made, in milliseconds since 1970.
    pub fn made_at_ms(&self, folder: &str) -> Result<i64, Fault> {
        let time = fs::metadata(self.folder(folder)?.at(UID_FILE)).and_then(|m| m.modified());
        let since = time.map_err(failed(folder))?.duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(since.as_millis() as i64)
    }
    /// The files that a providerSpec has named, and their content.
    pub fn files(&self, folder: &str) -> Result<BTreeMap<OsString, Vec<u8>>, Fault> {
        let open = self.folder(folder)?;
        let mut out = BTreeMap::new();
        for name in open.names()? {
            if !name.as_bytes().starts_with(b".") {
                let content = open.read(&name)?;
                out.insert(name, content);
            }
        }
        Ok(out)
    }
    pub fn put(&self, folder: &str, file: &str, content: &[u8]) -> Result<(), Fault> {
        let open = self.folder(folder)?;
        open.write(file, content)?;
        open.sync()
    }
    pub fn drop(&self, folder: &str, file: &OsStr) -> Result<(), Fault> {
        let open = self.folder(folder)?;
        open.unlink(file)?;
        open.sync()
    }
    /// Takes the folder its name, at once. sweep() removes it.
    pub fn retire(&self, folder: &str, uid: &str) -> Result<(), Fault> {
        let gone = self.directory.at(format!(".{uid}.gone"));
        fs::rename(self.directory.at(folder), gone).map_err(failed(folder))?;
        self.directory.sync()
    }
    /// Removes all of a cluster that has no name.
    pub fn sweep(&self, uid: &str) -> Result<(), Fault> {
        self.remove(&format!(".{uid}.new"))?;
        self.remove(&format!(".{uid}.gone"))
    }
    fn remove(&self, folder: &str) -> Result<(), Fault> {
        let open = match found(self.directory.inner(folder)).map_err(failed(folder))? {
            Some(open) => open,
            None => return Ok(()),
        };
        for name in open.names()? {
            fs::remove_file(open.at(&name)).map_err(failed(&open.said(&name)))?;
        }
        fs::remove_dir(self.directory.at(folder)).map_err(failed(folder))?;
        self.directory.sync()
    }
}

/// The folder has the cluster's name, and another one's uid.
pub fn another(folder: &str) -> Fault {
    Fault::new(ALREADY_EXISTS, format!("{folder}: is of another cluster")).at("metadata.name")
}
