//! Commands on a terminal, which `script` plays.

use super::{Home, Model, Place};
use crate::support::engine_program;
use crate::tools::calls;
use evenkeel_testkit::keyring::KeyringState;
use evenkeel_testkit::scripted_server::{Answer, Piece};
use serde_json::json;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

struct Terminal {
    child: Child,
    device: String,
    shown: String,
}

impl Terminal {
    fn new(place: &Place<'_>, line: &str) -> Self {
        // In place of the shell, which would end by the Ctrl-C that its command goes on after.
        let line = format!("tty; exec {} --profile {} {line}", engine_program().display(), place.profile().display());
        let mut command = Command::new("script");
        command.args(["--quiet", "--return", "--flush", "--command", &line, "/dev/null"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).env("SHELL", "/bin/sh").env("TERM", "dumb");
        let child = place.session.apply(&mut command).spawn().unwrap();
        let mut terminal = Self { child, device: String::new(), shown: String::new() };
        terminal.device = terminal.sees("\n").trim().to_owned();
        terminal
    }

    /// Waits until what is typed is not shown.
    fn hides(&self) {
        let began = Instant::now();
        loop {
            let said = Command::new("stty").args(["-F", &self.device, "-a"]).output().unwrap();
            if String::from_utf8_lossy(&said.stdout).contains("-echo ") {
                return;
            }
            assert!(began.elapsed() < Duration::from_secs(20), "what is typed stays visible");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until something is shown that was not there when this was last asked.
    fn sees(&mut self, text: &str) -> String {
        let mut bytes = Vec::new();
        let mut byte = [0];
        while !bytes.ends_with(text.as_bytes()) {
            let output = self.child.stdout.as_mut().unwrap();
            if output.read(&mut byte).unwrap() == 0 {
                panic!("{text:?} was not shown: {}{}", self.shown, String::from_utf8_lossy(&bytes));
            }
            bytes.push(byte[0]);
        }
        let seen = String::from_utf8(bytes).unwrap();
        self.shown.push_str(&seen);
        seen
    }

    fn types(&mut self, text: &str) {
        self.child.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// The exit code, once the process has ended by itself.
    fn ends(mut self) -> (i32, String) {
        self.child.stdout.take().unwrap().read_to_string(&mut self.shown).unwrap();
        (self.child.wait().unwrap().code().unwrap(), self.shown)
    }
}

#[test]
fn a_conversation_on_the_terminal_goes_on_until_its_input_ends() {
    let (model, home) = (Model::start(), Home::new());
    let place = home.with_vault(Some(&model.url()));
    let mut terminal = Terminal::new(&place, "chat 'Calm Counselor'");
    terminal.sees("> ");
    model.server.push(Answer::reply(&["Good ", "morn\u{1b}[31ming."]));
    terminal.types("Hello\n");
    let seen = terminal.sees("> ");
    assert!(seen.contains("Good morn[31ming.\r\n"), "what steers a terminal is left out: {seen:?}");

    model.server.push(Answer::stream(vec![Piece::Text("Half of".into()), Piece::Gate, Piece::Done]));
    terminal.types("And?\n");
    terminal.sees("Half of");
    terminal.types("\u{3}");
    terminal.sees("> ");
    model.server.push(Answer::error(401, "no such key"));
    terminal.types("Again\n");
    assert!(terminal.sees("> ").contains("(provider_unauthorized)"));
    terminal.types("\u{4}");
    assert_eq!(terminal.ends().0, 0);
    let sent = model.server.requests();
    assert!(sent.last().unwrap().to_string().contains("Half of"), "{sent:?}");
}

#[test]
fn a_tool_is_asked_about_and_what_became_of_it_is_told() {
    let (model, home) = (Model::start(), Home::new());
    let place = home.with_tools(&model.url());
    let mut terminal = Terminal::new(&place, "chat 'Calm Counselor'");
    terminal.sees("> ");
    for (answer, end) in [("n", "did not run: The user did not allow this call."), ("y", "ran.")] {
        model.server.push(calls(&[("remember", json!({"what": "tea"}))]));
        model.server.push(Answer::reply(&["So ", "be it."]));
        terminal.types("Remember tea\n");
        let seen = terminal.sees("[y/N] ");
        for part in ["remember of Notes", "changing.mjs", "says of itself: Keeps a thought.", "arguments: {\"what\":\"tea\"}"] {
            assert!(seen.contains(part), "{part}: {seen}");
        }
        terminal.types(&format!("{answer}\n"));
        let seen = terminal.sees("> ");
        assert!(seen.contains(&format!("Tool: remember of Notes {end}")) && seen.contains("So be it."), "{seen}");
    }
    terminal.types("\u{4}");
    assert_eq!(terminal.ends().0, 0);

    // By a pipe nobody can be asked.
    model.server.push(calls(&[("remember", json!({"what": "tea"}))]));
    model.server.push(Answer::reply(&["Then not."]));
    let said = place.run(&["chat", "Calm Counselor", "Remember tea"]);
    assert_eq!((said.code, said.out.as_str()), (0, "Then not.\n"));
    assert!(said.err.contains("did not run") && said.err.contains("cannot ask"), "{}", said.err);
    model.server.push(calls(&[("remember", json!({"what": "tea"}))]));
    model.server.push(Answer::reply(&["Then not."]));
    let exchange = place.run(&["chat", "Calm Counselor", "Remember tea", "--json"]).json();
    assert_eq!((&exchange["tools"][0]["tool"], &exchange["tools"][0]["end"]), (&json!("remember"), &json!("refused")));
}

#[test]
fn ctrl_c_at_the_prompt_ends_the_command() {
    let (model, home) = (Model::start(), Home::new());
    let place = home.with_vault(Some(&model.url()));
    let mut terminal = Terminal::new(&place, "chat 'Calm Counselor'");
    terminal.sees("> ");
    terminal.types("\u{3}");
    assert_eq!(terminal.ends().0, 130);
}

#[test]
fn the_passphrase_is_asked_for_and_not_shown() {
    let home = Home::new();
    let place = home.session(KeyringState::Unlocked);
    place.make(None, Some("correct horse battery"));
    let mut terminal = Terminal::new(&place, "contexts list");
    terminal.sees("recovery code: ");
    terminal.hides();
    terminal.types("battery horse correct\n");
    assert!(terminal.sees("recovery code: ").contains("neither the passphrase nor the recovery code"));
    terminal.hides();
    terminal.types("correct horse battery\n");
    let (code, shown) = terminal.ends();
    assert!(code == 0 && shown.contains("Calm Counselor") && !shown.contains("horse"), "{code} {shown}");
}

#[test]
fn a_restore_wants_its_word() {
    let home = Home::new();
    let place = home.with_vault(None);
    let made = place.run(&["backup", "now", "--json"]).json();
    let path = made["path"].as_str().unwrap();
    place.run(&["contexts", "create", "--preset", "Rational Advisor", "--name", "Newer"]).well();
    for (word, code, newer) in [("yes", 1, true), ("restore", 0, false)] {
        let mut terminal = Terminal::new(&place, &format!("restore '{path}'"));
        let seen = terminal.sees("to go on: ");
        assert!(seen.contains("These contexts disappear: Newer."), "{seen}");
        terminal.types(&format!("{word}\n"));
        assert_eq!(terminal.ends().0, code);
        assert_eq!(place.run(&["contexts", "list"]).well().contains("Newer"), newer);
    }
}
