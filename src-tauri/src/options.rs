//! The command line: everything that `evenkeel` can be asked for, and how that is read.

use clap::{Args, Parser, Subcommand};
use evenkeel_domain::{ErrorBody, ErrorCode};
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

mod wish;

pub use wish::{
    BackupWish, ChatWish, ContextChange, ContextDescription, ContextsWish, ConversationsWish, DoctorArguments, ExportWish,
    Format, Persona, PresetsWish, RestoreWish,
};

/// What stands below every help: what a script can rely on.
const EXIT_CODES: &str = "\
Exit codes: 0 done; 1 refused or failed; 2 the command line is not understood; 3 the vault cannot be opened; 130 stopped by Ctrl-C.
With --json, an error is {\"code\", \"message\", \"details\"} on standard error.";

/// AI companions that stay on an even keel, encrypted on your own machine.
#[derive(Debug, Parser)]
#[command(name = "evenkeel", version, about, after_help = EXIT_CODES)]
struct Arguments {
    /// Folder of the profile; the default is the system's place for app data.
    #[arg(long, value_name = "DIR", env = "EVENKEEL_PROFILE", global = true)]
    profile: Option<PathBuf>,
    #[command(subcommand)]
    task: Option<Subtask>,
}

#[derive(Debug, Subcommand)]
enum Subtask {
    /// Talks to a context: one message, or a conversation on the terminal.
    Chat(Spoken<ChatWish>),
    /// Lists, makes, changes and deletes contexts.
    Contexts(Ordered<ContextsWish>),
    /// Lists and shows presets.
    Presets(Ordered<PresetsWish>),
    /// Lists, shows, searches and deletes conversations.
    Conversations(Ordered<ConversationsWish>),
    /// Writes a conversation, or all of a context, as Markdown, JSON or text.
    Export(Spoken<ExportWish>),
    /// Makes, lists and checks backups.
    Backup(Ordered<BackupWish>),
    /// Puts a backup in the place of the vault.
    Restore(Spoken<RestoreWish>),
    /// Looks after keychain, vault, backups, models and providers, and says what to do.
    Doctor(Spoken<DoctorArguments>),
    /// Prints what completes these commands in a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Opens the small window; bind this to a key where the desktop has no global shortcuts.
    Quick,
    /// Serves other programs over standard input and output by the Model Context Protocol; they start it themselves.
    Mcp,
    /// Runs the built-in model server; started by the app itself.
    #[command(hide = true)]
    Engine,
}

/// How a command answers, and how it opens the vault.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct Manner {
    /// Prints JSON; errors too, on standard error.
    #[arg(long, global = true)]
    pub json: bool,
    /// Takes the passphrase or recovery code from this file where the keychain does not open the vault.
    #[arg(long, value_name = "FILE", global = true)]
    pub passphrase_file: Option<PathBuf>,
}

/// A command with arguments of its own.
#[derive(Debug, Args)]
struct Spoken<T: Args> {
    #[command(flatten)]
    wish: T,
    #[command(flatten)]
    manner: Manner,
}

/// A command with commands below it.
#[derive(Debug, Args)]
struct Ordered<T: Subcommand> {
    #[command(subcommand)]
    wish: T,
    #[command(flatten)]
    manner: Manner,
}

/// What the command line is asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Wish {
    /// Talk to a context.
    Chat(ChatWish),
    /// Something about contexts.
    Contexts(ContextsWish),
    /// Something about presets.
    Presets(PresetsWish),
    /// Something about conversations.
    Conversations(ConversationsWish),
    /// Write conversations out.
    Export(ExportWish),
    /// Something about backups.
    Backup(BackupWish),
    /// Restore a backup.
    Restore(RestoreWish),
    /// Look after everything.
    Doctor(DoctorArguments),
    /// Complete these commands in a shell.
    Completions(clap_complete::Shell),
}

/// What this process is to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Task {
    /// Open the main window.
    Window,
    /// Open the small window.
    Quick,
    /// Serve another program by MCP.
    Mcp,
    /// Be the engine.
    Engine,
    /// Do one thing without a window, and end.
    CommandLine(Box<Wish>, Manner),
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
        let arguments = Arguments::try_parse().unwrap_or_else(|error| refused(&error));
        let home = || dirs::data_dir().unwrap_or_else(|| PathBuf::from(".")).join("evenkeel");
        let task = arguments.task.map_or(Task::Window, Task::from);
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

/// Ends the process with help or with what is wrong, as JSON where that was asked for.
fn refused(error: &clap::Error) -> ! {
    if error.use_stderr() && wants_json(std::env::args_os().skip(1)) {
        let body = serde_json::to_string(&misunderstood(error)).unwrap_or_default();
        // Where nobody listens there is nobody to tell.
        let _ = writeln!(std::io::stderr(), "{body}");
        std::process::exit(error.exit_code());
    }
    error.exit()
}

/// Whether a line that is not understood asks for JSON all the same.
fn wants_json(line: impl Iterator<Item = OsString>) -> bool {
    line.take_while(|word| word != "--").any(|word| word == "--json" || word == "--stream")
}

/// What is wrong with the line, without how it is used.
fn misunderstood(error: &clap::Error) -> ErrorBody {
    let text = error.render().to_string();
    let first: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).flat_map(str::split_whitespace).collect();
    let message = first.join(" ");
    let message = message.strip_prefix("error: ").unwrap_or(&message);
    ErrorBody::new(ErrorCode::InvalidParameter, message).advised("Run the command with --help, which says what it takes.")
}

/// Everything that can be typed, for completions and manual pages.
pub(crate) fn definition() -> clap::Command {
    <Arguments as clap::CommandFactory>::command()
}

impl From<Subtask> for Task {
    fn from(task: Subtask) -> Self {
        let line = |wish, manner| Self::CommandLine(Box::new(wish), manner);
        match task {
            Subtask::Quick => Self::Quick,
            Subtask::Mcp => Self::Mcp,
            Subtask::Engine => Self::Engine,
            Subtask::Chat(Spoken { wish, manner }) => line(Wish::Chat(wish), manner),
            Subtask::Contexts(Ordered { wish, manner }) => line(Wish::Contexts(wish), manner),
            Subtask::Presets(Ordered { wish, manner }) => line(Wish::Presets(wish), manner),
            Subtask::Conversations(Ordered { wish, manner }) => line(Wish::Conversations(wish), manner),
            Subtask::Export(Spoken { wish, manner }) => line(Wish::Export(wish), manner),
            Subtask::Backup(Ordered { wish, manner }) => line(Wish::Backup(wish), manner),
            Subtask::Restore(Spoken { wish, manner }) => line(Wish::Restore(wish), manner),
            Subtask::Doctor(Spoken { wish, manner }) => line(Wish::Doctor(wish), manner),
            Subtask::Completions { shell } => line(Wish::Completions(shell), Manner::default()),
        }
    }
}

#[cfg(test)]
mod tests;
