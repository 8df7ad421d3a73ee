//! Keeping keys in memory from leaving the process by way of dumps and debuggers.

use crate::VaultError;

/// Forbids core dumps, and on Linux marks the process as not dumpable, so that another process
/// of the same user cannot attach to it or read its memory. Call it once, first thing in `main`.
///
/// On other systems nothing is done: macOS and Windows write no core files by default.
///
/// # Errors
/// [`VaultError::Io`] if the system refuses.
pub fn harden_process() -> Result<(), VaultError> {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};
        let refused = |e: rustix::io::Errno| VaultError::Io { what: "Forbidding memory dumps".to_owned(), source: e.into() };
        setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) }).map_err(refused)?;
        set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(refused)?;
    }
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::unwrap_used)]
    use rustix::process::{DumpableBehavior, Resource, dumpable_behavior, getrlimit};

    #[test]
    fn no_dumps_are_left_possible() {
        super::harden_process().unwrap();
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
        assert_eq!(getrlimit(Resource::Core).maximum, Some(0));
    }
}
