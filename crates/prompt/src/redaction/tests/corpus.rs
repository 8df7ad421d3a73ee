//! How much is found of what should be, and how much that should not be.

use super::*;
use std::collections::BTreeMap;

const OWN: [&str; 6] = ["Marlene Vogt", "Projekt Kranich", "田中葵", "Ostrowska", "Blue Heron", "Ümit"];

/// A sentence without its marks, and what was marked in it.
struct Sentence {
    text: String,
    marked: Vec<Hit>,
}

fn kind_of(name: &str) -> RedactionKind {
    let all = RedactionKind::ALL.iter().copied();
    all.into_iter().find(|kind| format!("{kind:?}").to_lowercase() == name).unwrap()
}

fn sentence(line: &str) -> Sentence {
    let (_language, marked_text) = line.split_once(": ").unwrap();
    let mut sentence = Sentence { text: String::new(), marked: Vec::new() };
    let mut rest = marked_text;
    while let Some((plain, tail)) = rest.split_once('⟦') {
        let (inside, after) = tail.split_once('⟧').unwrap();
        let (name, value) = inside.split_once('|').unwrap();
        sentence.text.push_str(plain);
        let from = sentence.text.len();
        sentence.text.push_str(&value.replace('¦', ""));
        sentence.marked.push(Hit::new(from, sentence.text.len(), kind_of(name)));
        rest = after;
    }
    sentence.text.push_str(rest);
    sentence
}

fn sentences(file: &str) -> Vec<Sentence> {
    file.lines().filter(|line| !line.starts_with('#')).map(sentence).collect()
}

/// Counts of one kind.
#[derive(Debug, Clone, Copy, Default)]
struct Score {
    marked: u32,
    found: u32,
    exact: u32,
    edits: u32,
    false_alarms: u32,
}

impl Score {
    fn recall(self) -> f64 {
        f64::from(self.found) / f64::from(self.marked.max(1))
    }

    fn precision(self) -> f64 {
        f64::from(self.edits - self.false_alarms) / f64::from(self.edits.max(1))
    }

    fn plus(self, other: Self) -> Self {
        Self {
            marked: self.marked + other.marked,
            found: self.found + other.found,
            exact: self.exact + other.exact,
            edits: self.edits + other.edits,
            false_alarms: self.false_alarms + other.false_alarms,
        }
    }
}

/// What an edit took out.
fn kind_taken(edit: &TextEdit) -> RedactionKind {
    *RedactionKind::ALL.iter().find(|kind| kind.placeholder() == edit.with).unwrap()
}

/// A mark is found if one edit of its kind covers all of it; an edit that touches no mark of its kind is a false alarm.
fn measure(sentences: &[&Sentence], shown: bool) -> BTreeMap<RedactionKind, Score> {
    let redactor = Redactor::new(&all_on(&OWN));
    let mut scores: BTreeMap<RedactionKind, Score> = BTreeMap::new();
    for sentence in sentences {
        let edits = redactor.redact(&sentence.text).edits;
        for mark in &sentence.marked {
            let score = scores.entry(mark.kind).or_default();
            let (from, to) = (u32::try_from(mark.from).unwrap(), u32::try_from(mark.to).unwrap());
            let covers = edits.iter().find(|edit| kind_taken(edit) == mark.kind && edit.start <= from && edit.end >= to);
            score.marked += 1;
            score.found += u32::from(covers.is_some());
            score.exact += u32::from(covers.is_some_and(|edit| edit.start == from && edit.end == to));
            if covers.is_none_or(|edit| edit.start != from || edit.end != to) && shown {
                println!(
                    "  {} {:?} in {}",
                    if covers.is_some() { "wider " } else { "missed" },
                    &sentence.text[mark.from..mark.to],
                    sentence.text
                );
            }
        }
        for edit in &edits {
            let score = scores.entry(kind_taken(edit)).or_default();
            let range = edit.start as usize..edit.end as usize;
            let right = sentence
                .marked
                .iter()
                .any(|mark| mark.kind == kind_taken(edit) && mark.from < range.end && mark.to > range.start);
            score.edits += 1;
            score.false_alarms += u32::from(!right);
            if !right && shown {
                println!("  false  {:?} {:?} in {}", kind_taken(edit), &sentence.text[range], sentence.text);
            }
        }
    }
    scores
}

fn print(title: &str, scores: &BTreeMap<RedactionKind, Score>) -> Score {
    println!("{title}\nkind    marked  found  exact  recall  edits  false alarms  precision");
    let all = scores.values().copied().fold(Score::default(), Score::plus);
    let rows = scores.iter().map(|(kind, score)| (format!("{kind:?}"), *score)).chain([("all".to_owned(), all)]);
    for (name, score) in rows {
        let Score { marked, found, exact, edits, false_alarms } = score;
        let (recall, precision) = (score.recall(), score.precision());
        println!("{name:6} {marked:7} {found:6} {exact:6} {recall:7.3} {edits:6} {false_alarms:13} {precision:10.3}");
    }
    all
}

#[test]
fn corpus() {
    let all = sentences(include_str!("../corpus.txt"));
    let later = sentences(include_str!("../corpus_later.txt"));
    let unseen = sentences(include_str!("../corpus_unseen.txt"));
    assert!(all.len() >= 300 && unseen.len() >= 40, "{} and {}", all.len(), unseen.len());
    let parts: (Vec<_>, Vec<_>) = all.iter().enumerate().partition(|(at, _)| at % 3 != 2);
    let [mut open, held_out] = [parts.0, parts.1].map(|part| part.into_iter().map(|(_, sentence)| sentence).collect::<Vec<_>>());
    open.extend(&later);
    let open_score = print(&format!("rules were made on {} sentences", open.len()), &measure(&open, true));
    // Errors of the other parts are not shown: who sees them makes rules for them.
    let held_score = print(&format!("held out: {} sentences", held_out.len()), &measure(&held_out, false));
    let title = format!("written after the rules were done: {} sentences", unseen.len());
    let unseen_score = print(&title, &measure(&unseen.iter().collect::<Vec<_>>(), false));
    for (score, recall, precision) in [(open_score, 0.98, 0.99), (held_score, 0.98, 0.96), (unseen_score, 0.87, 0.95)] {
        assert!(score.recall() >= recall && score.precision() >= precision, "{score:?}");
    }
}
