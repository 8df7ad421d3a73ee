//! The layer itself. SQLite calls it with its own structures; every file of ours begins with SQLite's
//! `sqlite3_file`, goes on with what we know of it, and ends with the file of the layer below.

use super::{Call, Disk, Failure};
use rusqlite::ffi;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::{Arc, OnceLock};

/// What we know of an open file.
struct Watched {
    disk: Arc<Disk>,
    path: PathBuf,
}

#[repr(C)]
struct File {
    base: ffi::sqlite3_file,
    /// Null for a file on no disk of ours. Made by `Box::into_raw`, taken back when closed.
    watched: *mut Watched,
}

/// Bytes of `File` before the file of the layer below, which needs the alignment of a pointer.
const OWN: usize = size_of::<File>();
const _: () = assert!(OWN.is_multiple_of(align_of::<u64>()));

/// A pointer to a structure that lives as long as the process and is not changed after it was made.
struct Shared(*mut ffi::sqlite3_vfs);
// SAFETY: the structure behind it is complete before the pointer is shared, and SQLite guards its own list.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

/// The layer below ours.
static BELOW: OnceLock<Shared> = OnceLock::new();
static REGISTERED: OnceLock<c_int> = OnceLock::new();

/// Makes this layer the default of the process, once.
pub(super) fn register() -> Result<(), c_int> {
    let code = *REGISTERED.get_or_init(|| {
        // SAFETY: asking for the default layer initialises SQLite and has no other precondition.
        let below = unsafe { ffi::sqlite3_vfs_find(ptr::null()) };
        if below.is_null() {
            return ffi::SQLITE_ERROR;
        }
        BELOW.get_or_init(|| Shared(below));
        // SAFETY: SQLite keeps a registered layer valid for the life of the process.
        let mut ours = unsafe { *below };
        ours.pNext = ptr::null_mut();
        ours.zName = c"evenkeel-store-faults".as_ptr();
        ours.szOsFile += OWN as c_int;
        ours.xOpen = Some(open);
        ours.xDelete = Some(delete);
        // Never freed: SQLite refers to it for the life of the process.
        let ours = Box::leak(Box::new(ours));
        // SAFETY: the structure is complete and is never freed.
        unsafe { ffi::sqlite3_vfs_register(ours, 1) }
    });
    if code == ffi::SQLITE_OK { Ok(()) } else { Err(code) }
}

fn below() -> *mut ffi::sqlite3_vfs {
    BELOW.get().map_or(ptr::null_mut(), |shared| shared.0)
}

/// The calls of an open file: version 2, without memory mapping.
static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

fn code(failure: Failure, io: c_int) -> c_int {
    match failure {
        Failure::Io => io,
        Failure::Full => ffi::SQLITE_FULL,
    }
}

/// The path in a C string.
///
/// # Safety
/// `name` is null or a C string.
unsafe fn path_of(name: *const c_char) -> Option<PathBuf> {
    if name.is_null() {
        return None;
    }
    // SAFETY: it is a C string, says the caller.
    let bytes = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
    Some(PathBuf::from(bytes))
}

/// The file of the layer below, and its calls.
///
/// # Safety
/// `file` was opened by [`open`] and not closed.
unsafe fn inner(file: *mut ffi::sqlite3_file) -> (*mut ffi::sqlite3_file, &'static ffi::sqlite3_io_methods) {
    // SAFETY: SQLite allocated szOsFile bytes, which are ours and those of the layer below; an open file has its methods,
    // which are static.
    unsafe {
        let inner = file.cast::<u8>().add(OWN).cast::<ffi::sqlite3_file>();
        (inner, &*(*inner).pMethods)
    }
}

/// What we know of a file.
///
/// # Safety
/// As for [`inner`].
unsafe fn watched<'a>(file: *mut ffi::sqlite3_file) -> Option<&'a Watched> {
    // SAFETY: our part stands at the beginning; the box lives until the file is closed, and SQLite does not close a file
    // while it is inside a call on it.
    unsafe { (*file.cast::<File>()).watched.as_ref() }
}

/// Passes a call on to the layer below.
macro_rules! pass {
    ($file:expr, $call:ident $(, $argument:expr)*) => {{
        // SAFETY: SQLite calls us with a file that it opened through us.
        let (inner, methods) = unsafe { inner($file) };
        match methods.$call {
            // SAFETY: the arguments are SQLite's own.
            Some(call) => unsafe { call(inner $(, $argument)*) },
            None => ffi::SQLITE_IOERR,
        }
    }};
}

unsafe extern "C" fn open(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: SQLite gives a C string or null, and room for szOsFile bytes.
    let (path, ours) = unsafe { (path_of(name), &mut *file.cast::<File>()) };
    ours.base.pMethods = ptr::null();
    ours.watched = ptr::null_mut();
    let disk = path.as_deref().and_then(Disk::of);
    let writes = flags & ffi::SQLITE_OPEN_READWRITE != 0;
    if let Some(failure) = disk.as_ref().filter(|_| writes).and_then(|disk| disk.fails()) {
        return code(failure, ffi::SQLITE_IOERR);
    }
    // SAFETY: the layer below was found when we registered; its file stands behind our part.
    let opened = unsafe {
        let inner = file.cast::<u8>().add(OWN).cast::<ffi::sqlite3_file>();
        (*inner).pMethods = ptr::null();
        match (*below()).xOpen {
            Some(call) => call(below(), name, inner, flags, out_flags),
            None => ffi::SQLITE_CANTOPEN,
        }
    };
    if opened != ffi::SQLITE_OK {
        return opened;
    }
    if let (Some(disk), Some(path)) = (disk, path) {
        if writes {
            disk.done(&path, || Call::Open);
        }
        ours.watched = Box::into_raw(Box::new(Watched { disk, path }));
    }
    ours.base.pMethods = &raw const METHODS;
    ffi::SQLITE_OK
}

unsafe extern "C" fn delete(_: *mut ffi::sqlite3_vfs, name: *const c_char, sync: c_int) -> c_int {
    // SAFETY: SQLite gives a C string.
    let path = unsafe { path_of(name) };
    let disk = path.as_deref().and_then(Disk::of);
    // SQLite removes files that may not be there, which changes nothing.
    let disk = disk.filter(|_| path.as_deref().is_some_and(Path::exists));
    if let Some(failure) = disk.as_ref().and_then(|disk| disk.fails()) {
        return code(failure, ffi::SQLITE_IOERR_DELETE);
    }
    // SAFETY: as in `open`.
    let deleted = unsafe {
        match (*below()).xDelete {
            Some(call) => call(below(), name, sync),
            None => ffi::SQLITE_IOERR_DELETE,
        }
    };
    if let (Some(disk), Some(path), ffi::SQLITE_OK) = (disk, path, deleted) {
        disk.done(&path, || Call::Delete);
    }
    deleted
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    let closed = pass!(file, xClose);
    // SAFETY: SQLite closes a file once; the box was made by `open`.
    unsafe {
        let ours = &mut *file.cast::<File>();
        if !ours.watched.is_null() {
            drop(Box::from_raw(ours.watched));
            ours.watched = ptr::null_mut();
        }
    }
    closed
}

unsafe extern "C" fn read(file: *mut ffi::sqlite3_file, to: *mut c_void, bytes: c_int, at: i64) -> c_int {
    pass!(file, xRead, to, bytes, at)
}

unsafe extern "C" fn write(file: *mut ffi::sqlite3_file, from: *const c_void, bytes: c_int, at: i64) -> c_int {
    // SAFETY: the file is open.
    let Some(watched) = (unsafe { watched(file) }) else { return pass!(file, xWrite, from, bytes, at) };
    if let Some(failure) = watched.disk.fails() {
        // A disk that gives up in the middle has written the first half.
        let _ = pass!(file, xWrite, from, bytes / 2, at);
        return code(failure, ffi::SQLITE_IOERR_WRITE);
    }
    let written = pass!(file, xWrite, from, bytes, at);
    if written == ffi::SQLITE_OK {
        watched.disk.done(&watched.path, || {
            let length = usize::try_from(bytes).unwrap_or(0);
            // SAFETY: SQLite gives so many bytes.
            let bytes = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), length) }.to_vec();
            Call::Write { at: u64::try_from(at).unwrap_or(0), bytes }
        });
    }
    written
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: i64) -> c_int {
    // SAFETY: the file is open.
    let Some(watched) = (unsafe { watched(file) }) else { return pass!(file, xTruncate, size) };
    if let Some(failure) = watched.disk.fails() {
        return code(failure, ffi::SQLITE_IOERR_TRUNCATE);
    }
    let cut = pass!(file, xTruncate, size);
    if cut == ffi::SQLITE_OK {
        watched.disk.done(&watched.path, || Call::Truncate(u64::try_from(size).unwrap_or(0)));
    }
    cut
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    // SAFETY: the file is open.
    let Some(watched) = (unsafe { watched(file) }) else { return pass!(file, xSync, flags) };
    if let Some(failure) = watched.disk.fails() {
        return code(failure, ffi::SQLITE_IOERR_FSYNC);
    }
    let synced = pass!(file, xSync, flags);
    if synced == ffi::SQLITE_OK {
        watched.disk.done(&watched.path, || Call::Sync);
    }
    synced
}

unsafe extern "C" fn file_size(file: *mut ffi::sqlite3_file, size: *mut i64) -> c_int {
    pass!(file, xFileSize, size)
}

unsafe extern "C" fn lock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    pass!(file, xLock, level)
}

unsafe extern "C" fn unlock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    pass!(file, xUnlock, level)
}

unsafe extern "C" fn check_reserved_lock(file: *mut ffi::sqlite3_file, held: *mut c_int) -> c_int {
    pass!(file, xCheckReservedLock, held)
}

unsafe extern "C" fn file_control(file: *mut ffi::sqlite3_file, what: c_int, argument: *mut c_void) -> c_int {
    pass!(file, xFileControl, what, argument)
}

unsafe extern "C" fn sector_size(file: *mut ffi::sqlite3_file) -> c_int {
    pass!(file, xSectorSize)
}

unsafe extern "C" fn device_characteristics(file: *mut ffi::sqlite3_file) -> c_int {
    pass!(file, xDeviceCharacteristics)
}

unsafe extern "C" fn shm_map(
    file: *mut ffi::sqlite3_file,
    page: c_int,
    bytes: c_int,
    extend: c_int,
    out: *mut *mut c_void,
) -> c_int {
    // SAFETY: the file is open.
    if let Some(watched) = (unsafe { watched(file) }).filter(|_| extend != 0) {
        if let Some(failure) = watched.disk.fails() {
            // What the system's layer says where it cannot grow the index.
            return if failure == Failure::Full { ffi::SQLITE_IOERR_SHMSIZE } else { ffi::SQLITE_IOERR_SHMMAP };
        }
        watched.disk.done(&watched.path, || Call::Index);
    }
    pass!(file, xShmMap, page, bytes, extend, out)
}

unsafe extern "C" fn shm_lock(file: *mut ffi::sqlite3_file, offset: c_int, count: c_int, flags: c_int) -> c_int {
    pass!(file, xShmLock, offset, count, flags)
}

unsafe extern "C" fn shm_barrier(file: *mut ffi::sqlite3_file) {
    // SAFETY: the file is open.
    let (inner, methods) = unsafe { inner(file) };
    if let Some(call) = methods.xShmBarrier {
        // SAFETY: the file of the layer below is open.
        unsafe { call(inner) }
    }
}

unsafe extern "C" fn shm_unmap(file: *mut ffi::sqlite3_file, remove: c_int) -> c_int {
    pass!(file, xShmUnmap, remove)
}
