//! What each command takes.

use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use evenkeel_domain::ConversationId;
use std::path::PathBuf;

/// Talks to a context.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct ChatWish {
    /// The context: its id, or its name where only one has it.
    pub context: String,
    /// What to say; without it, standard input, or a conversation on the terminal.
    pub message: Option<String>,
    /// Goes on in this conversation; without it, in the one used last.
    #[arg(long, value_name = "ID", conflicts_with = "new")]
    pub conversation: Option<ConversationId>,
    /// Begins a conversation.
    #[arg(long)]
    pub new: bool,
    /// Prints every event of the reply as a line of JSON.
    #[arg(long)]
    pub stream: bool,
}

/// Something about contexts.
#[derive(Debug, Clone, PartialEq, Subcommand)]
pub enum ContextsWish {
    /// Lists contexts, the one talked to last first.
    List {
        /// Expired ones too.
        #[arg(long)]
        all: bool,
        /// What lies in the trash, and nothing else.
        #[arg(long)]
        trash: bool,
        /// Only those with this tag.
        #[arg(long)]
        tag: Option<String>,
        /// Only those with this text in name, personality or a tag.
        #[arg(long, value_name = "TEXT")]
        search: Option<String>,
        /// The page.
        #[arg(long, default_value_t = 1)]
        page: u32,
        /// Contexts a page, 1-500.
        #[arg(long, value_name = "NUMBER", default_value_t = 50)]
        page_size: u32,
    },
    /// Shows a context with its persona and settings.
    Show {
        /// Id or name.
        context: String,
    },
    /// Makes a context, from a preset or from a name and a system prompt.
    Create(ContextDescription),
    /// Changes what is named of a context.
    Update(ContextChange),
    /// Puts a context into the trash, with its conversations.
    Delete {
        /// Id or name.
        context: String,
    },
    /// Begins a context's lifetime anew from now; an expired one answers again.
    Extend {
        /// Id or name.
        context: String,
    },
}

/// A context to make.
#[derive(Debug, Clone, PartialEq, Args)]
#[command(group = ArgGroup::new("origin").required(true).args(["preset", "system_prompt", "system_prompt_file"]))]
pub struct ContextDescription {
    /// Makes it from this preset, by id or name.
    #[arg(long, conflicts_with_all = ["personality", "local_only", "tags"])]
    pub preset: Option<String>,
    /// Its name, 1-120 characters; of one from a preset, the preset's.
    #[arg(long, required_unless_present = "preset")]
    pub name: Option<String>,
    /// Who it is.
    #[command(flatten)]
    pub persona: Persona,
    /// Its numbers.
    #[command(flatten)]
    pub numbers: Numbers,
    /// Only models on this machine may answer.
    #[arg(long)]
    pub local_only: bool,
    /// A tag; may be given several times.
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
}

/// What to change of a context.
#[derive(Debug, Clone, PartialEq, Args)]
#[command(group = ArgGroup::new("change").required(true).multiple(true).args([
    "name", "system_prompt", "system_prompt_file", "personality", "temperature", "max_tokens", "max_history_tokens",
    "expiry_days", "local_only", "maintain_personality", "tags", "no_tags",
]))]
pub struct ContextChange {
    /// Id or name.
    pub context: String,
    /// Its name from now on.
    #[arg(long)]
    pub name: Option<String>,
    /// Who it is.
    #[command(flatten)]
    pub persona: Persona,
    /// Its numbers.
    #[command(flatten)]
    pub numbers: Numbers,
    /// Whether only models on this machine may answer.
    #[arg(long, value_name = "BOOL")]
    pub local_only: Option<bool>,
    /// Whether the persona is called to mind near the end of each request.
    #[arg(long, value_name = "BOOL")]
    pub maintain_personality: Option<bool>,
    /// A tag; those that are given are all from now on.
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    /// Takes all tags away.
    #[arg(long, conflicts_with = "tags")]
    pub no_tags: bool,
}

/// Who a context is.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Persona {
    /// Instructions to the model, 1-32,000 characters.
    #[arg(long, value_name = "TEXT")]
    pub system_prompt: Option<String>,
    /// Takes the instructions from a file; - is standard input.
    #[arg(long, value_name = "FILE", conflicts_with = "system_prompt")]
    pub system_prompt_file: Option<PathBuf>,
    /// The personality in words, at most 8,000 characters.
    #[arg(long, value_name = "TEXT")]
    pub personality: Option<String>,
}

/// The numbers of a context.
#[derive(Debug, Clone, Copy, PartialEq, Args)]
pub struct Numbers {
    /// Sampling temperature, 0-1; 0.7 where nothing else is said.
    #[arg(long, value_name = "NUMBER")]
    pub temperature: Option<f32>,
    /// Tokens of a reply, 1-131,072; 1,000 where nothing else is said.
    #[arg(long, value_name = "NUMBER")]
    pub max_tokens: Option<u32>,
    /// Tokens of history in a request, 500-2,000,000; 15,000 where nothing else is said.
    #[arg(long, value_name = "NUMBER")]
    pub max_history_tokens: Option<u32>,
    /// Days after the last interaction, 1-3,650, or 0 for never; 7 where nothing else is said.
    #[arg(long, value_name = "DAYS")]
    pub expiry_days: Option<u32>,
}

/// Something about presets.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum PresetsWish {
    /// Lists presets.
    List {
        /// Hidden ones too.
        #[arg(long)]
        all: bool,
        /// The page.
        #[arg(long, default_value_t = 1)]
        page: u32,
        /// Presets a page, 1-500.
        #[arg(long, value_name = "NUMBER", default_value_t = 50)]
        page_size: u32,
    },
    /// Shows a preset with its persona and settings.
    Show {
        /// Id or name.
        preset: String,
    },
}

/// Something about conversations.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum ConversationsWish {
    /// Lists conversations, pinned ones first, then by activity.
    List {
        /// Only those of this context, by id or name.
        #[arg(long)]
        context: Option<String>,
        /// Archived ones too.
        #[arg(long)]
        archived: bool,
        /// What lies in the trash, and nothing else.
        #[arg(long)]
        trash: bool,
        /// At most so many, 1-500.
        #[arg(long, default_value_t = 50)]
        limit: u32,
        /// So many are left out at the beginning.
        #[arg(long, default_value_t = 0)]
        offset: u32,
    },
    /// Shows the newest messages of a conversation; `evenkeel export` writes all.
    Show {
        /// The conversation's id.
        id: ConversationId,
    },
    /// Finds messages that have all these words.
    Search {
        /// The words; of the last one the beginning is enough.
        text: String,
        /// Only in conversations of this context, by id or name.
        #[arg(long)]
        context: Option<String>,
        /// At most so many, 1-100.
        #[arg(long, default_value_t = 20)]
        limit: u32,
    },
    /// Puts conversations into the trash.
    Delete {
        /// Their ids.
        #[arg(required = true)]
        ids: Vec<ConversationId>,
    },
}

/// How conversations are written out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// The shown branch, to read.
    Markdown,
    /// Every branch, with all that is known of each message.
    Json,
    /// The shown branch, as plain text.
    Text,
}

/// Conversations to write out.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(group = ArgGroup::new("what").required(true).args(["conversation", "context"]))]
pub struct ExportWish {
    /// The conversation's id.
    pub conversation: Option<ConversationId>,
    /// Every conversation of this context, by id or name.
    #[arg(long)]
    pub context: Option<String>,
    /// How; Markdown where nothing is said, JSON with --json.
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Writes into this file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replaces the file if it is there.
    #[arg(long, requires = "output")]
    pub force: bool,
}

/// Something about backups.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum BackupWish {
    /// Makes a backup and checks it.
    Now {
        /// In this folder, outside the profile, best on another disk.
        #[arg(long, value_name = "DIR")]
        to: Option<PathBuf>,
    },
    /// Lists the backups in the profile, newest first.
    List {
        /// Those in this folder instead.
        #[arg(long, value_name = "DIR")]
        to: Option<PathBuf>,
    },
    /// Checks a backup completely, as a restore would.
    Check {
        /// The file; without it, the newest of the profile.
        file: Option<PathBuf>,
    },
}

/// A backup to restore.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct RestoreWish {
    /// The backup's file.
    pub file: PathBuf,
    /// Does not ask.
    #[arg(long)]
    pub yes: bool,
}

/// What the doctor may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub struct DoctorArguments {
    /// Asks the providers whether they answer, which sends them a request.
    #[arg(long)]
    pub network: bool,
}
