#![allow(clippy::unwrap_used)]

use super::*;
use clap::Parser;
use std::collections::BTreeMap;
use std::path::Path;

fn read(line: &[&str]) -> Result<Task, clap::error::ErrorKind> {
    let arguments = Arguments::try_parse_from(std::iter::once(&"evenkeel").chain(line));
    arguments.map(|arguments| arguments.task.map_or(Task::Window, Task::from)).map_err(|error| error.kind())
}

#[test]
fn the_definition_holds_together() {
    definition().debug_assert();
}

#[test]
fn the_manner_may_stand_before_or_after_the_command_below() {
    for line in [["contexts", "--json", "list"], ["contexts", "list", "--json"]] {
        let Ok(Task::CommandLine(wish, manner)) = read(&line) else { panic!("{line:?}") };
        assert!(manner.json && matches!(*wish, Wish::Contexts(ContextsWish::List { page_size: 50, .. })), "{wish:?}");
    }
}

#[test]
fn what_cannot_be_meant_is_refused_before_anything_is_opened() {
    use clap::error::ErrorKind::{ArgumentConflict, MissingRequiredArgument, ValueValidation};
    let id = "01890a5d-ac96-774b-bcce-b302099a8057";
    for (line, kind) in [
        (&["chat", "Mara", "--new", "--conversation", id][..], ArgumentConflict),
        (&["conversations", "show", "no-id"], ValueValidation),
        (&["conversations", "delete"], MissingRequiredArgument),
        (&["contexts", "create", "--name", "Mara"], MissingRequiredArgument),
        (&["contexts", "create", "--preset", "x", "--system-prompt", "y"], ArgumentConflict),
        (&["contexts", "update", "Mara"], MissingRequiredArgument),
        (&["export"], MissingRequiredArgument),
        (&["export", id, "--context", "Mara"], ArgumentConflict),
        (&["export", id, "--force"], MissingRequiredArgument),
    ] {
        assert_eq!(read(line), Err(kind), "{line:?}");
    }
}

#[test]
fn what_is_not_understood_is_said_in_json_where_that_was_asked_for() {
    let wants = |line: &[&str]| wants_json(line.iter().map(|word| OsString::from(*word)));
    assert!(wants(&["contexts", "nonsense", "--json"]) && wants(&["chat", "--stream"]));
    assert!(!wants(&["contexts", "nonsense"]) && !wants(&["chat", "Mara", "--", "--json"]));
    let error = Arguments::try_parse_from(["evenkeel", "contexts", "nonsense", "--json"]).unwrap_err();
    let body = misunderstood(&error);
    assert!(body.message.contains("'nonsense'") && !body.message.contains("error:"), "{body}");
    assert!(!body.message.contains("Usage") && body.advice().contains("--help"), "{body}");
}

#[test]
fn completions_know_every_command() {
    for shell in
        [clap_complete::Shell::Bash, clap_complete::Shell::Zsh, clap_complete::Shell::Fish, clap_complete::Shell::PowerShell]
    {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut definition(), "evenkeel", &mut script);
        let script = String::from_utf8(script).unwrap();
        for word in ["conversations", "passphrase-file", "completions", "extend"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

/// Every page by its file name.
fn pages() -> BTreeMap<String, String> {
    let folder = tempfile::tempdir().unwrap();
    clap_mangen::generate_to(definition(), folder.path()).unwrap();
    let pages = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap());
    pages.map(|page| (page.file_name().into_string().unwrap(), std::fs::read_to_string(page.path()).unwrap())).collect()
}

/// Run with `EVENKEEL_WRITE_DOCS=1` to write the pages instead of comparing them.
#[test]
fn the_committed_manual_matches_the_definition() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/man");
    let fresh = pages();
    if std::env::var_os("EVENKEEL_WRITE_DOCS").is_some() {
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        for (name, page) in &fresh {
            std::fs::write(folder.join(name), page).unwrap();
        }
    }
    let committed = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.unwrap();
        let page = std::fs::read_to_string(entry.path()).unwrap().replace("\r\n", "\n");
        (entry.file_name().into_string().unwrap(), page)
    };
    let committed: BTreeMap<String, String> = std::fs::read_dir(&folder).into_iter().flatten().map(committed).collect();
    let hint = "docs/man is out of date: EVENKEEL_WRITE_DOCS=1 cargo test -p evenkeel --lib options";
    assert!(committed == fresh, "{hint}");
    assert!(fresh.contains_key("evenkeel-contexts-create.1") && !fresh.contains_key("evenkeel-engine.1"));
}
