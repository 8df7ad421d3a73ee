//! The program's side: the real `evenkeel mcp`, spoken with over its standard input and output.

use super::{ROUNDS_EACH, Seen, Tally};
use crate::error::BenchError;
use evenkeel_domain::ContextId;
use evenkeel_testkit::scripted_server::{Answer, ScriptedServer};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The name that the program gives itself.
pub const NAME: &str = "Writes";
/// This side, for the tally.
const SIDE: u8 = 2;
/// Things on one page of a list: the most there may be.
const PAGE: u32 = 500;

/// A program that has started `evenkeel mcp`.
pub struct Program {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    asked: u64,
}

impl Program {
    /// Starts the app's own binary, which lies beside this one, on a profile.
    pub fn start(profile: &Path) -> Result<Self, BenchError> {
        let failed = |source| BenchError::system("starting `evenkeel mcp`", source);
        let binary = format!("evenkeel{}", std::env::consts::EXE_SUFFIX);
        let binary = std::env::current_exe().map_err(failed)?.with_file_name(binary);
        let mut command = Command::new(binary);
        command.arg("mcp").arg("--profile").arg(profile).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(BenchError::Worthless("the program has no pipes".to_owned()));
        };
        let mut program = Self { child, input: Some(input), output: BufReader::new(output), asked: 0 };
        let client = json!({ "name": NAME, "version": "1" });
        program.request("initialize", &json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client }))?;
        program.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(program)
    }

    /// Calls a tool; gives its answer.
    ///
    /// # Errors
    /// Also where the tool refuses.
    pub fn ask(&mut self, tool: &str, arguments: &Value) -> Result<Value, BenchError> {
        let mut result = self.request("tools/call", &json!({ "name": tool, "arguments": arguments }))?;
        let answer = result["structuredContent"].take();
        if answer["success"] == json!(true) {
            return Ok(answer);
        }
        Err(BenchError::Worthless(format!("{tool} refused: {}", answer["message"])))
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value, BenchError> {
        self.asked += 1;
        self.say(&json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params }))?;
        loop {
            let mut line = String::new();
            let read = self.output.read_line(&mut line).map_err(|source| BenchError::system("reading an answer", source))?;
            if read == 0 {
                return Err(BenchError::Worthless("`evenkeel mcp` ended early".to_owned()));
            }
            // Notifications come between.
            let mut heard: Value = serde_json::from_str(&line)?;
            if heard["id"] == json!(self.asked) {
                return Ok(heard["result"].take());
            }
        }
    }

    fn say(&mut self, message: &Value) -> Result<(), BenchError> {
        let Some(input) = self.input.as_mut() else { return Ok(()) };
        writeln!(input, "{message}").map_err(|source| BenchError::system("asking `evenkeel mcp`", source))
    }

    /// Closes the input and waits for the process's end.
    pub fn end(&mut self) -> Result<(), BenchError> {
        drop(self.input.take());
        self.child.wait().map(drop).map_err(|source| BenchError::system("ending `evenkeel mcp`", source))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program, with what it was acknowledged.
pub struct ProgramSide<'a> {
    /// The process.
    pub program: Program,
    model: &'a ScriptedServer,
    shared: String,
    tally: &'a Tally,
    /// Its own context and preset in these rounds.
    place: Option<(String, String)>,
    /// What was acknowledged.
    pub acknowledged: Seen,
}

impl<'a> ProgramSide<'a> {
    /// Nothing written yet.
    pub fn new(program: Program, model: &'a ScriptedServer, shared: ContextId, tally: &'a Tally) -> Self {
        Self { program, model, shared: shared.to_string(), tally, place: None, acknowledged: Seen::new() }
    }

    /// Writes for so many rounds.
    pub fn write(&mut self, rounds: u32) -> Result<(), BenchError> {
        for round in 0..rounds {
            let place = match self.place.take().filter(|_| !round.is_multiple_of(ROUNDS_EACH)) {
                Some(place) => place,
                None => self.begin(round)?,
            };
            self.round(&place, round)?;
            self.place = Some(place);
        }
        Ok(())
    }

    /// Makes a context and a preset of this side's own.
    fn begin(&mut self, round: u32) -> Result<(String, String), BenchError> {
        let (name, prompt) = (format!("Program {round}"), "A companion of the program.");
        let wish = json!({ "action": "create", "name": name, "systemPrompt": prompt });
        let context = self.wrote("context-manage", &wish, "context", "systemPrompt")?;
        let preset = self.wrote("personality-preset-manage", &wish, "preset", "systemPrompt")?;
        Ok((context, preset))
    }

    fn round(&mut self, place: &(String, String), round: u32) -> Result<(), BenchError> {
        let (context, preset) = place;
        let prompt = format!("A companion of the program, as it is in round {round}.");
        let wish = json!({ "action": "update", "contextId": context, "systemPrompt": prompt });
        self.wrote("context-manage", &wish, "context", "systemPrompt")?;
        let wish = json!({ "action": "update", "presetId": preset, "systemPrompt": prompt });
        self.wrote("personality-preset-manage", &wish, "preset", "systemPrompt")?;
        // The app changes another field of the same context.
        let wish = json!({ "action": "update", "contextId": self.shared, "systemPrompt": prompt });
        self.wrote("context-manage", &wish, "context", "systemPrompt")?;
        self.model.push(Answer::reply(&["A calm reply."]));
        let wish = json!({ "contextId": context, "message": format!("The program says {round}.") });
        let chatted = self.program.ask("context-chat", &wish)?;
        self.note("message", &chatted["userMessage"], "content")?;
        self.note("message", &chatted["assistantResponse"], "content").map(drop)
    }

    /// Asks for something to be written; gives the id of what was.
    fn wrote(&mut self, tool: &str, wish: &Value, noun: &str, field: &str) -> Result<String, BenchError> {
        let answer = self.program.ask(tool, wish)?;
        self.note(noun, &answer[noun], field)
    }

    fn note(&mut self, noun: &str, record: &Value, field: &str) -> Result<String, BenchError> {
        self.tally.wrote(SIDE, 1);
        let id = text(record, "id")?;
        self.acknowledged.insert(format!("{noun} {id}"), text(record, field)?);
        Ok(id)
    }

    /// Everything, as the program lists it.
    pub fn sees(&mut self) -> Result<Seen, BenchError> {
        let mut seen = Seen::new();
        let list = json!({ "action": "list", "pageSize": PAGE });
        for context in records(self.program.ask("context-manage", &list)?, "contexts") {
            let id = text(&context, "id")?;
            let query = json!({ "action": "list", "contextId": id, "pageSize": PAGE });
            for message in records(self.program.ask("conversation-manage", &query)?, "conversations") {
                seen.insert(format!("message {}", text(&message, "id")?), text(&message, "content")?);
            }
            seen.insert(format!("context {id}"), text(&context, "systemPrompt")?);
            seen.insert(format!("personality {id}"), text(&context, "personality")?);
        }
        for preset in records(self.program.ask("personality-preset-manage", &list)?, "presets") {
            seen.insert(format!("preset {}", text(&preset, "id")?), text(&preset, "systemPrompt")?);
        }
        Ok(seen)
    }
}

fn records(mut answer: Value, field: &str) -> Vec<Value> {
    match answer[field].take() {
        Value::Array(records) => records,
        _ => Vec::new(),
    }
}

fn text(record: &Value, field: &str) -> Result<String, BenchError> {
    let text = record[field].as_str().map(str::to_owned);
    text.ok_or_else(|| BenchError::Worthless(format!("an answer of `evenkeel mcp` has no {field}")))
}
