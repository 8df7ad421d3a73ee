//! What was measured, as a table or as JSON.

use crate::error::BenchError;
use serde::Serialize;
use std::io::Write;

/// Target of a figure that is reported and not judged.
pub const REPORTED: &str = "—";

/// One figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// What was measured, with its unit.
    pub metric: String,
    /// The figure.
    pub value: f64,
    /// What it should be; [`REPORTED`] where nothing is claimed.
    pub target: String,
    /// Whether the target was reached.
    pub ok: bool,
}

impl Row {
    /// A figure that must reach `least`.
    pub fn at_least(metric: impl Into<String>, value: f64, least: f64) -> Self {
        Self { metric: metric.into(), value: rounded(value), target: format!("≥ {least}"), ok: value >= least }
    }

    /// A figure that must stay within `most`.
    pub fn at_most(metric: impl Into<String>, value: f64, most: f64) -> Self {
        Self { metric: metric.into(), value: rounded(value), target: format!("≤ {most}"), ok: value <= most }
    }

    /// A figure without a target.
    pub fn reported(metric: impl Into<String>, value: f64) -> Self {
        Self { metric: metric.into(), value: rounded(value), target: REPORTED.to_owned(), ok: true }
    }
}

/// Three decimals for small figures, one for large ones: more would be noise.
fn rounded(value: f64) -> f64 {
    let scale = if value.abs() < 100.0 { 1_000.0 } else { 10.0 };
    (value * scale).round() / scale
}

/// The figures of a workload, and what a reader should see before them.
#[derive(Debug, Default)]
pub struct Report {
    /// The figures in order.
    pub rows: Vec<Row>,
    /// Text that stands above the table and is left out of JSON.
    pub preface: String,
}

impl Report {
    /// Adds another report's contents.
    pub fn append(&mut self, mut other: Self) {
        self.rows.append(&mut other.rows);
        self.preface.push_str(&other.preface);
    }

    /// The preface and the table.
    pub fn text(&self) -> String {
        format!("{}{}", self.preface, table(&self.rows))
    }

    /// An array of `{metric, value, target, ok}` and nothing else.
    pub fn json(&self) -> Result<String, BenchError> {
        Ok(serde_json::to_string_pretty(&self.rows)?)
    }
}

/// Columns as wide as their widest cell.
fn table(rows: &[Row]) -> String {
    let mut lines = vec![["metric", "value", "target", "ok"].map(str::to_owned)];
    lines.extend(rows.iter().map(|row| [row.metric.clone(), row.value.to_string(), row.target.clone(), answer(row).to_owned()]));
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or_default();
    let widths = [width(0), width(1), width(2), width(3)];
    lines.insert(1, widths.map(|width| "-".repeat(width)));
    let shown = lines.iter().map(|[metric, value, target, ok]| {
        let [first, second, third, _] = widths;
        format!("{metric:first$} | {value:>second$} | {target:third$} | {ok}")
    });
    shown.collect::<Vec<_>>().join("\n")
}

fn answer(row: &Row) -> &'static str {
    match (row.target.as_str(), row.ok) {
        (REPORTED, _) => REPORTED,
        (_, true) => "yes",
        (_, false) => "NO",
    }
}

/// Tells on standard error what is being measured.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    quiet: bool,
}

impl Progress {
    /// Says nothing where `quiet`, so that a JSON reader may join both streams.
    pub fn new(quiet: bool) -> Self {
        Self { quiet }
    }

    /// Says a line.
    pub fn say(self, line: &str) {
        if !self.quiet {
            // A closed standard error is no reason to stop measuring.
            let _ = writeln!(std::io::stderr(), "{line}");
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    fn report() -> Report {
        let rows =
            vec![Row::at_least("rate (ratio)", 1.23456, 1.0), Row::at_most("added ms", 3.5, 3.0), Row::reported("tone", -0.25)];
        Report { rows, preface: "transcript\n".to_owned() }
    }

    #[test]
    fn a_target_is_judged_by_the_exact_figure() {
        let missed = Row::at_least("rate", 0.99999, 1.0);
        assert_eq!((missed.value, missed.ok), (1.0, false));
        assert!(!Row::at_most("added", 3.0001, 3.0).ok);
        assert!(!Row::at_least("rate", f64::NAN, 1.0).ok);
    }

    #[test]
    fn the_table_is_aligned_and_follows_the_preface() {
        let expected = "transcript\n\
            metric       | value | target | ok\n\
            ------------ | ----- | ------ | ---\n\
            rate (ratio) | 1.235 | ≥ 1    | yes\n\
            added ms     |   3.5 | ≤ 3    | NO\n\
            tone         | -0.25 | —      | —";
        assert_eq!(report().text(), expected);
    }

    #[test]
    fn json_is_the_rows_alone() {
        let read: serde_json::Value = serde_json::from_str(&report().json().unwrap()).unwrap();
        let expected = serde_json::json!([
            {"metric": "rate (ratio)", "value": 1.235, "target": "≥ 1", "ok": true},
            {"metric": "added ms", "value": 3.5, "target": "≤ 3", "ok": false},
            {"metric": "tone", "value": -0.25, "target": "—", "ok": true},
        ]);
        assert_eq!(read, expected);
    }
}
