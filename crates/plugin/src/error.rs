//! What can go wrong with a plug-in.

use crate::manifest::IdMistake;
use evenkeel_domain::ErrorCode;
use std::io;
use std::path::{Path, PathBuf};

/// An error of a plug-in, or of what runs them.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    /// No plug-in can be run on this machine.
    #[error("strategy plug-ins cannot run here ({0}); conversations go on with the sliding window")]
    Host(String),
    /// One plug-in is refused or failed.
    #[error("the plug-in {plugin} {fault}")]
    Plugin {
        /// Its id, or the name of its folder where the id could not be read.
        plugin: String,
        /// What happened.
        #[source]
        fault: Fault,
    },
}

impl PluginError {
    pub(crate) fn new(plugin: impl ToString, fault: Fault) -> Self {
        Self::Plugin { plugin: plugin.to_string(), fault }
    }

    /// What happened to the plug-in; `None` if none can be run.
    #[must_use]
    pub fn fault(&self) -> Option<&Fault> {
        match self {
            Self::Host(_) => None,
            Self::Plugin { fault, .. } => Some(fault),
        }
    }

    /// The error's code on every face.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        self.fault().map_or(ErrorCode::Internal, Fault::code)
    }
}

/// What happened to a plug-in; reads on after "the plug-in NAME".
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// A file or folder could not be read or written.
    #[error("could not be handled: {action} {} failed ({source}); check the folder and try again", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// With which file or folder.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// `plugin.json` is not as the interface wants it.
    #[error("has a plugin.json that cannot be used: {0}; ask its author for a corrected one")]
    Manifest(String),
    /// Not an id.
    #[error("has no usable id: {0}")]
    Id(#[from] IdMistake),
    /// A file of the plug-in is a link, a folder or something else than a file.
    #[error("has something else than a plain file at {}; copy the file itself into the folder", .0.display())]
    NotAFile(PathBuf),
    /// A file is over its limit.
    #[error("is too large: {file} has more than {most} bytes")]
    TooLarge {
        /// The file's name.
        file: String,
        /// Most bytes.
        most: u64,
    },
    /// The folder in the plug-ins' place bears another name than the id in it.
    #[error("lies in a folder that bears another name than its id {id}; remove the folder and install the plug-in again")]
    WrongFolder {
        /// The id in `plugin.json`.
        id: String,
    },
    /// Made for another version of the interface.
    #[error(
        "was made for version {found} of the plug-in interface ({place}), this app has version {wanted}; look for a fitting version"
    )]
    Abi {
        /// The version it names.
        found: i64,
        /// Where it names it.
        place: &'static str,
        /// The version of this app.
        wanted: i64,
    },
    /// The file is no module that can be run.
    #[error("has no WebAssembly module that can be run: {0}")]
    Module(String),
    /// The module wants something from outside.
    #[error(
        "asks for {module}.{name} from outside; plug-ins get no files, network or clock, and may import nothing but env.abort (i32, i32, i32, i32)"
    )]
    Import {
        /// Where from.
        module: String,
        /// What.
        name: String,
    },
    /// An export is missing, or is something else.
    #[error("does not export {name} as {wanted}")]
    Export {
        /// The export.
        name: &'static str,
        /// What it has to be.
        wanted: &'static str,
    },
    /// Stopped after too many instructions.
    #[error("was stopped after {0} instructions without an answer")]
    Fuel(u64),
    /// Stopped after too long a time.
    #[error("was stopped after {0} ms without an answer")]
    Deadline(u64),
    /// Stopped as it asked for too much memory.
    #[error("was stopped as it asked for {wanted} bytes of memory; it may have {most}")]
    Memory {
        /// The size it asked for, in bytes.
        wanted: u64,
        /// The most, in bytes.
        most: u64,
    },
    /// Stopped as it asked for too large a table.
    #[error("was stopped as it asked for a table of {wanted} entries; it may have {most}")]
    Table {
        /// The size it asked for.
        wanted: u64,
        /// The most.
        most: u64,
    },
    /// Its calls were nested too deep.
    #[error("was stopped as its calls were nested too deep")]
    Stack,
    /// It called `env.abort`.
    #[error("gave up by itself (abort at line {line}, column {column} of its source)")]
    Abort {
        /// Line, as the plug-in says.
        line: i32,
        /// Column, as the plug-in says.
        column: i32,
    },
    /// It did something that WebAssembly forbids.
    #[error("failed: {0}")]
    Trap(String),
    /// The request is larger than what is handed to a plug-in.
    #[error("was not asked: the conversation is {bytes} bytes long, a plug-in is given at most {most}")]
    InputTooLarge {
        /// The request, in bytes.
        bytes: usize,
        /// The most.
        most: usize,
    },
    /// A pointer and length lead out of its memory.
    #[error("gave the place {pointer} with {length} bytes from {export}, which is not within its {memory} bytes of memory")]
    OutOfMemory {
        /// The function that answered.
        export: &'static str,
        /// The pointer.
        pointer: u32,
        /// The length.
        length: u32,
        /// The size of its memory, in bytes.
        memory: usize,
    },
    /// The answer is larger than what is taken.
    #[error("answered with {bytes} bytes from {export}; at most {most} are taken")]
    OutputTooLarge {
        /// The function that answered.
        export: &'static str,
        /// The answer, in bytes.
        bytes: usize,
        /// The most.
        most: usize,
    },
    /// The answer is not what the interface wants.
    #[error("answered from {export} with something that cannot be used: {reason}")]
    Answer {
        /// The function that answered.
        export: &'static str,
        /// What does not fit.
        reason: String,
    },
    /// The answer begins the history after its end.
    #[error("wants the history to begin with exchange {first} of {exchanges}")]
    First {
        /// What it said.
        first: u64,
        /// How many there are.
        exchanges: usize,
    },
    /// Something else is installed under this id.
    #[error("is installed already in version {installed}; to have version {offered} in its place, say that it is to be replaced")]
    Installed {
        /// The version that is there.
        installed: String,
        /// The version that was to be installed.
        offered: String,
    },
    /// Nothing is installed under this id.
    #[error("is not installed")]
    NotInstalled,
}

impl Fault {
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { action, path: path.to_owned(), source }
    }

    /// The error's code on every face.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull => ErrorCode::DiskFull,
            Self::Io { .. } => ErrorCode::Storage,
            Self::NotInstalled => ErrorCode::NotFound,
            _ => ErrorCode::InvalidParameter,
        }
    }
}
