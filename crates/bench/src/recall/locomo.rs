//! Files of LoCoMo's form (Maharana et al. 2024): long conversations of two speakers in sessions, and
//! questions with the turns that answer them.

use super::set::{Asked, Line, Sample, Session, Set};
use crate::error::BenchError;
use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::path::Path;

/// Questions of this category have no answer in the conversations.
const ADVERSARIAL: u64 = 5;
/// How times are written: `1:56 pm on 8 May, 2023`.
const TIME: &str = "%I:%M %p on %d %B, %Y";

#[derive(Deserialize)]
struct Entry {
    conversation: Map<String, Value>,
    #[serde(default)]
    qa: Vec<Question>,
}

#[derive(Deserialize)]
struct Question {
    question: String,
    #[serde(default)]
    evidence: Vec<String>,
    category: Option<u64>,
}

#[derive(Deserialize)]
struct Said {
    speaker: String,
    dia_id: String,
    #[serde(default)]
    text: String,
}

/// Reads a file. Questions of the adversarial category are left out, and those whose evidence is
/// nowhere in the conversations.
pub fn read(path: &Path) -> Result<Set, BenchError> {
    let text = std::fs::read_to_string(path).map_err(|source| BenchError::system("reading the data file", source))?;
    let name = path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
    let bad = |reason: String| BenchError::DataFile { path: path.display().to_string(), reason };
    let entries: Vec<Entry> = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
    let samples = entries.iter().map(sample).collect::<Result<Vec<_>, _>>().map_err(|error| bad(error.to_string()))?;
    let set = Set { name, samples };
    if set.questions() == 0 {
        return Err(bad("no question names a turn that is there".to_owned()));
    }
    Ok(set)
}

fn sample(entry: &Entry) -> Result<Sample, serde_json::Error> {
    let first = entry.conversation.get("speaker_a").and_then(Value::as_str);
    let mut sessions = Vec::new();
    let mut numbers: Vec<u32> = entry.conversation.keys().filter_map(|key| key.strip_prefix("session_")?.parse().ok()).collect();
    numbers.sort_unstable();
    for number in numbers {
        let said = entry.conversation.get(&format!("session_{number}")).cloned().unwrap_or_default();
        let said: Vec<Said> = serde_json::from_value(said)?;
        let user = first.map(str::to_owned).or_else(|| said.first().map(|one| one.speaker.clone()));
        let line = |one: Said| Line { is_user: Some(&one.speaker) == user.as_ref(), id: one.dia_id, text: one.text };
        let time = entry.conversation.get(&format!("session_{number}_date_time")).and_then(Value::as_str);
        let begins = begins(time, number);
        sessions
            .push(Session { begins, lines: said.into_iter().map(line).filter(|line| !line.text.trim().is_empty()).collect() });
    }
    let known: HashSet<&str> = sessions.iter().flat_map(|session| &session.lines).map(|line| line.id.as_str()).collect();
    let asked = entry.qa.iter().filter(|one| one.category != Some(ADVERSARIAL)).filter_map(|one| {
        // Some files write several ids into one text.
        let ids = one.evidence.iter().flat_map(|text| text.split([';', ',', ' '])).map(str::trim);
        let mut evidence: Vec<String> = ids.filter(|id| known.contains(id)).map(str::to_owned).collect();
        evidence.sort_unstable();
        evidence.dedup();
        (!evidence.is_empty()).then(|| Asked { text: one.question.clone(), evidence })
    });
    Ok(Sample { questions: asked.collect(), sessions })
}

/// The time of a session; a day for each one where it is not written.
fn begins(written: Option<&str>, number: u32) -> DateTime<Utc> {
    let read = written.and_then(|text| NaiveDateTime::parse_from_str(text.trim(), TIME).ok());
    let day = DateTime::from_timestamp(1_672_531_200, 0).unwrap_or_default() + TimeDelta::days(number.into());
    read.map_or(day, |time| time.and_utc())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    #[test]
    fn the_form_is_read_with_its_oddities() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/locomo.json");
        let set = read(&path).unwrap();
        assert_eq!((set.name.as_str(), set.samples.len(), set.messages(), set.questions()), ("locomo.json", 1, 7, 3));
        let sample = &set.samples[0];
        let begun: Vec<String> = sample.sessions.iter().map(|session| session.begins.to_rfc3339()).collect();
        assert_eq!(
            begun,
            ["2023-05-08T13:56:00+00:00", "2023-06-01T09:05:00+00:00", "2023-01-11T00:00:00+00:00"],
            "10 comes after 2"
        );
        let speakers: Vec<bool> = sample.sessions[0].lines.iter().map(|line| line.is_user).collect();
        assert_eq!(speakers, [true, false, true]);
        assert_eq!(sample.questions[1].evidence, ["D1:3", "D2:1"]);
        assert!(sample.questions.iter().all(|question| !question.text.contains("nobody")));
    }

    #[test]
    fn another_form_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for text in ["{}", "[]", "[{\"conversation\":{\"session_1\":[{}]}}]", "no"] {
            let path = folder.path().join("data.json");
            std::fs::write(&path, text).unwrap();
            assert!(matches!(read(&path), Err(BenchError::DataFile { .. })), "{text}");
        }
        assert!(matches!(read(&folder.path().join("absent.json")), Err(BenchError::System { .. })));
    }
}
