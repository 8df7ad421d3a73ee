//! What to do about each error, and the table of the docs. A code without its row does not compile.

use crate::{ErrorBody, ErrorCode};

impl ErrorCode {
    /// What the user can do about it, in one sentence.
    #[must_use]
    pub fn advice(self) -> &'static str {
        match self {
            Self::InvalidParameter => "Change the field named to a value within the range named.",
            Self::NotFound => "Choose one of those listed; it may have been deleted in another window.",
            Self::LimitReached => "Delete what is no longer needed, or raise the limit in the settings.",
            Self::Busy => "Wait until the reply has ended, or stop it.",
            Self::ContextExpired => "Extend the context, then do it again.",
            Self::NotPermitted => "Allow it in Settings, Connections, if the program is to do this.",
            Self::NoModel => "Choose a model in Settings, Providers.",
            Self::LocalOnly => "Choose a model on this machine, or allow others in the context's settings.",
            Self::PromptTooLarge => {
                "Shorten the persona or the message, lower the length of replies, or choose a model with a larger window."
            }
            Self::ProviderUnauthorized => "Check the key of the provider in Settings, Providers, and whether it is still valid.",
            Self::ProviderModelNotFound => "Choose a model from the provider's list, or install it there.",
            Self::ProviderRateLimited => "Wait for the time named, then send the message again.",
            Self::ProviderRejected => "Read the provider's reason in the details; another model or smaller settings often help.",
            Self::ProviderFailed => "Try again in a few minutes, or choose another model.",
            Self::ProviderUnreachable => {
                "Check the address and whether the server runs; for one in a network check the connection."
            }
            Self::ProviderTimeout => "Try again; a large model may need longer for its first words.",
            Self::ProviderBrokenOff => "What had arrived is kept; regenerate the reply to have it whole.",
            Self::ProviderMalformed => "Check that the address and the kind of provider belong together.",
            Self::ProviderAddressRefused => "Use an https address, or http on this machine only.",
            Self::ToolFailed => "Test the server in Settings, Tools; its last words are in the message.",
            Self::EngineUnavailable => "Start Evenkeel again; if it stays so, install it again.",
            Self::EngineCrashed => "Send the message again; if it happens often, choose a smaller model.",
            Self::ModelFileInvalid => "Download the file again, or choose a GGUF file of a chat model.",
            Self::ModelFileMissing => "Put the file back where it was, or add it again from its new place.",
            Self::PlaceRefused => "Choose a folder outside the profile, best on another disk.",
            Self::KeychainUnavailable => {
                "Start the keychain service of the system, or open the vault with the recovery code or passphrase."
            }
            Self::KeychainLocked => "Unlock the system's keychain and try again, or use the recovery code or passphrase.",
            Self::KeychainWaiting => "Answer the keychain's question, which may stand behind this window, or cancel.",
            Self::KeychainMissing => "Open the vault with the recovery code; the key is then put back into the keychain.",
            Self::WrongKey => "Check the code or passphrase for typing mistakes and try again.",
            Self::VaultDamaged => "Restore the newest backup; the damaged files are kept beside it.",
            Self::VaultTooNew => "Update Evenkeel to the version that wrote the vault, or a newer one.",
            Self::VaultLocked => "Unlock the vault, then do it again.",
            Self::VaultExists => "Open the vault that is there, or choose another profile folder.",
            Self::VaultAway => "Connect the drive that the data was moved to, then try again.",
            Self::MoveRefused => "Choose a new or empty folder outside the present one; the message says what stands against it.",
            Self::VaultInUse => "Wait until the other process has ended, or close it.",
            Self::ArchiveInvalid => {
                "Choose another copy of the archive; a file that was cut or changed on its way cannot be used."
            }
            Self::ArchiveLocked => "Check the passphrase, or choose the key file that the archive was sealed to.",
            Self::ArchiveTooNew => "Update Evenkeel to the version that wrote the archive, or a newer one.",
            Self::FileExists => "Choose another name, or say that the file may be replaced.",
            Self::ImportPending => "Finish the interrupted import in Settings, Data, or undo it there.",
            Self::Storage => "Try again; if it fails once more, check the disk and make a copy of the newest backup.",
            Self::NotWritable => "Allow writing to the folder, or lift the write protection of its drive, then try again.",
            Self::DiskFull => "Free space on the disk, then do it again.",
            Self::Internal => "Start Evenkeel again and report what you did before it happened.",
        }
    }

    /// The table of all codes as Markdown, as it stands in `docs/errors.md`.
    #[must_use]
    pub fn table() -> String {
        let mut table = String::from(
            "# Errors\n\n\
             Every error has the shape `{code, message, details}`, in the window, over HTTP and over MCP alike. This table is\n\
             generated from `ErrorCode`; after a change run `EVENKEEL_WRITE_DOCS=1 cargo test -p evenkeel-domain error_advice`.\n\
             Where a code is of several things, `details.advice` says what to do about this one.\n\n\
             | code | what happened | what to do |\n|---|---|---|\n",
        );
        for (code, name, _) in Self::ALL {
            table.push_str(&format!("| `{name}` | {} | {} |\n", code.description(), code.advice()));
        }
        table
    }
}

/// The detail that says what to do where that of the code does not fit.
const ADVICE: &str = "advice";

impl ErrorBody {
    /// The same with what to do about it, where its code is of several things.
    #[must_use]
    pub fn advised(self, advice: &str) -> Self {
        self.with(ADVICE, advice)
    }

    /// What the user can do about it, in one sentence: its own, or else that of its code.
    #[must_use]
    pub fn advice(&self) -> &str {
        self.details.get(ADVICE).map_or_else(|| self.code.advice(), String::as_str)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::path::Path;

    #[test]
    fn a_field_is_named_as_the_caller_knows_it_and_no_other_one_is() {
        let body = ErrorBody::new(ErrorCode::InvalidParameter, "text is empty; it must be there").with("field", "text");
        let named = body.clone().of_field("text", "message");
        assert_eq!((named.message.as_str(), named.details["field"].as_str()), ("message is empty; it must be there", "message"));
        assert_eq!(body.clone().of_field("name", "message"), body);
    }

    #[test]
    fn an_error_that_brings_its_own_advice_gives_that_of_its_code_no_more() {
        let body = ErrorBody::new(ErrorCode::NotFound, "the folder is not there");
        assert_eq!(body.advice(), ErrorCode::NotFound.advice());
        assert_eq!(body.advised("Make it.").advice(), "Make it.");
    }

    /// Run with `EVENKEEL_WRITE_DOCS=1` to write the file instead of comparing it.
    #[test]
    fn the_committed_table_matches_the_codes() {
        let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors.md");
        let fresh = ErrorCode::table();
        if std::env::var_os("EVENKEEL_WRITE_DOCS").is_some() {
            std::fs::write(&committed, &fresh).unwrap();
        }
        let committed = std::fs::read_to_string(committed).unwrap_or_default().replace("\r\n", "\n");
        assert!(
            committed == fresh,
            "docs/errors.md is out of date: EVENKEEL_WRITE_DOCS=1 cargo test -p evenkeel-domain error_advice"
        );
    }

    #[test]
    fn each_row_is_a_sentence_or_two_and_breaks_no_table() {
        for (code, name, _) in ErrorCode::ALL {
            for text in [code.description(), code.advice()] {
                assert!(text.ends_with('.') && !text.contains(['|', '\n']), "{name}: {text}");
                assert!(text.starts_with(char::is_uppercase), "{name}: {text}");
            }
            assert_eq!(code.as_str(), *name);
        }
        let mut all: Vec<_> = ErrorCode::ALL.iter().map(|(code, ..)| code.advice()).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), ErrorCode::ALL.len(), "two codes share their advice");
    }
}
