//! The command line.

use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// AI companions that stay on an even keel, encrypted on your own machine.
#[derive(Debug, Parser)]
#[command(version, about)]
struct Arguments {
    /// Folder of the profile; the default is the system's place for app data.
    #[arg(long, value_name = "DIR", env = "EVENKEEL_PROFILE", global = true)]
    profile: Option<PathBuf>,
    #[command(subcommand)]
    task: Option<Subtask>,
}

#[derive(Debug, Subcommand)]
enum Subtask {
    /// Opens the small window; bind this to a key where the desktop has no global shortcuts.
    Quick,
    /// Serves other programs over standard input and output by the Model Context Protocol; they start it themselves.
    Mcp,
    /// Runs the built-in model server; started by the app itself.
    #[command(hide = true)]
    Engine,
}

/// What this process is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Open the main window.
    Window,
    /// Open the small window.
    Quick,
    /// Serve another program by MCP.
    Mcp,
    /// Be the engine.
    Engine,
}

/// The command line, read.
#[derive(Debug, Clone)]
pub struct Options {
    /// Folder of the profile.
    pub profile: PathBuf,
    /// What to do.
    pub task: Task,
}

impl Options {
    /// Reads the process's arguments; ends the process with help or an error where they ask for it.
    #[must_use]
    pub fn from_process() -> Self {
        let arguments = Arguments::parse();
        let task = match arguments.task {
            None => Task::Window,
            Some(Subtask::Quick) => Task::Quick,
            Some(Subtask::Mcp) => Task::Mcp,
            Some(Subtask::Engine) => Task::Engine,
        };
        let home = || dirs::data_dir().unwrap_or_else(|| PathBuf::from(".")).join("evenkeel");
        Self { profile: arguments.profile.unwrap_or_else(home), task }
    }

    /// A D-Bus name that is the same for each start on the same profile.
    #[must_use]
    pub fn instance_id(&self) -> String {
        let path = std::path::absolute(&self.profile).unwrap_or_else(|_| self.profile.clone());
        let hash = path.as_os_str().as_encoded_bytes().iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            // FNV-1a: stable from version to version, which the standard library's hasher is not.
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        format!("app.evenkeel.profile{hash:016x}")
    }
}
