//! The workload `faults`: every behaviour that the vault promises when something breaks, with its figure. The same
//! faults, fewer of them, are tests of `crates/store-faults`.

use crate::clock;
use crate::error::BenchError;
use crate::report::{Progress, Report, Row};
use evenkeel_store_faults::bytes::{Reader, feed};
use evenkeel_store_faults::damage::{Target, damage};
use evenkeel_store_faults::secrecy::{self, Searched};
use evenkeel_store_faults::sweep::{Work, sweep};
use evenkeel_store_faults::{FaultError, full, image, kill, recovery};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// What can be shown alone.
pub const PARTS: [&str; 11] = ["kill", "calls", "power", "damage", "disk", "backup", "code", "clock", "forget", "plain", "bytes"];
/// First argument of the child that writes until it is killed; the folder comes in a variable.
const WRITING_CHILD: &str = "faults-writing-child";
/// First argument of the child that has a small disk.
const DISK_CHILD: &str = "faults-disk-child";

/// Children that are killed.
const ROUNDS: u64 = 1_000;
/// Images of power cuts, and the messages that are saved before each.
const IMAGES: u64 = 1_000;
const MESSAGES: u64 = 150;
/// Faults in each kind of file.
const FAULTS: u64 = 300;
/// Disks that are filled, in MiB: one without room for a reserve, and one with it.
const DISKS: [u32; 2] = [6, 24];

/// Megabytes of the vault whose backup is timed, and how long that may take, in seconds.
const BACKUP: (u64, f64) = (100, 5.0);
/// New profiles that a backup is opened on.
const PROFILES: u64 = 100;
/// Jumps of the clock by three years. All of them together take less running time than a deletion rests.
const JUMPS: usize = 20;

/// How long each reader is fed with hostile bytes.
const FED: Duration = Duration::from_secs(120);

/// Does what a child of this workload is for; `None` if this is none.
pub fn child(given: &[String]) -> Option<Result<(), FaultError>> {
    let role = given.first()?;
    let folder = PathBuf::from(std::env::var_os(kill::FOLDER)?);
    match role.as_str() {
        WRITING_CHILD => Some(kill::writing_child(&folder)),
        DISK_CHILD => Some(full::small_disk_child(&folder)),
        _ => None,
    }
}

/// Shows everything, or one of [`PARTS`].
pub async fn run(part: Option<&str>, progress: Progress) -> Result<Report, BenchError> {
    let program = std::env::current_exe().map_err(|source| BenchError::system("finding this program", source))?;
    let mut report = Report::default();
    for name in PARTS.into_iter().filter(|name| part.is_none_or(|part| part == *name)) {
        progress.say(&format!("{name} …"));
        match name {
            "kill" => killed(&mut report, &program)?,
            "calls" => Work::ALL.into_iter().try_for_each(|work| swept(&mut report, work, progress))?,
            "power" => cut(&mut report)?,
            "damage" => Target::ALL.into_iter().try_for_each(|target| damaged(&mut report, target, progress))?,
            "disk" => filled(&mut report, &program)?,
            "backup" => backed_up(&mut report)?,
            "code" => recovered(&mut report)?,
            "clock" => {
                let wrong = clock::wrong_deletions(JUMPS).await?;
                report.rows.push(Row::at_most(format!("{JUMPS} jumps by 3 years: wrong deletions"), wrong as f64, 0.0));
            }
            "forget" => searched(&mut report, "forgotten", "decrypted databases", secrecy::forget())?,
            "plain" => searched(&mut report, "never plaintext", "files", secrecy::scan())?,
            _ => Reader::ALL.into_iter().try_for_each(|reader| fed(&mut report, reader, progress))?,
        }
    }
    Ok(report)
}

/// The figures of a behaviour, or the promise that it broke.
fn judged<T>(
    report: &mut Report,
    what: &str,
    outcome: Result<T, FaultError>,
    rows: impl FnOnce(T) -> Vec<Row>,
) -> Result<(), BenchError> {
    let (broken, mut figures) = match outcome {
        Ok(figures) => (0.0, rows(figures)),
        Err(FaultError::Broken(promise)) => {
            report.preface.push_str(&format!("{what}: {promise}\n"));
            (1.0, Vec::new())
        }
        Err(error) => return Err(error.into()),
    };
    figures.push(Row::at_most(format!("{what}: broken promises"), broken, 0.0));
    report.rows.append(&mut figures);
    Ok(())
}

fn killed(report: &mut Report, program: &PathBuf) -> Result<(), BenchError> {
    let start = || {
        let mut command = Command::new(program);
        command.arg(WRITING_CHILD);
        command
    };
    judged(report, "kill -9", kill::rounds(ROUNDS, &start), |killed| {
        vec![
            Row::at_least("kill -9: rounds", killed.rounds as f64, ROUNDS as f64),
            Row::reported("kill -9: acknowledged messages, all of them there", killed.acknowledged as f64),
        ]
    })
}

fn swept(report: &mut Report, work: Work, progress: Progress) -> Result<(), BenchError> {
    progress.say(&format!("  {}", work.name()));
    let what = format!("n-th call fails, {}", work.name());
    judged(report, &what, sweep(work, None), |swept| {
        vec![
            Row::at_least(format!("{what}: runs (4 × every n)"), swept.runs as f64, 4.0 * swept.calls as f64),
            Row::reported(format!("{what}: runs that were refused"), swept.refused as f64),
        ]
    })
}

fn cut(report: &mut Report) -> Result<(), BenchError> {
    judged(report, "power cut", image::power_cuts(MESSAGES, IMAGES, 1), |images| {
        vec![
            Row::at_least("power cut: images", images.images as f64, IMAGES as f64),
            Row::reported("power cut: acknowledged messages looked for", images.acknowledged as f64),
            Row::at_most("power cut: acknowledged messages lost", images.lost as f64, 0.0),
            Row::at_most("power cut: images that do not open clean", images.corrupt as f64, 0.0),
        ]
    })
}

fn damaged(report: &mut Report, target: Target, progress: Progress) -> Result<(), BenchError> {
    progress.say(&format!("  {}", target.name()));
    let what = format!("damage to the {}", target.name());
    judged(report, &what, damage(target, FAULTS, 1), |tally| {
        let mut rows = vec![
            Row::at_least(format!("{what}: found of {}", tally.faults), tally.found as f64, tally.faults as f64),
            Row::at_most(format!("{what}: written over"), tally.overwritten as f64, 0.0),
        ];
        if tally.rescued > 0 {
            rows.push(Row::at_most(format!("{what}: messages lost in {} rescues", tally.rescued), tally.lost as f64, 0.0));
        }
        rows
    })
}

fn filled(report: &mut Report, program: &PathBuf) -> Result<(), BenchError> {
    for megabytes in DISKS {
        let mut command = Command::new(program);
        command.arg(DISK_CHILD);
        let what = format!("full disk of {megabytes} MiB");
        let outcome = full::on_small_disk(megabytes, &command);
        if matches!(outcome, Ok(None)) {
            report.preface.push_str(&format!("{what}: not shown, since no small file system can be made here\n"));
            continue;
        }
        judged(report, &what, outcome, |_| Vec::new())?;
    }
    Ok(())
}

fn backed_up(report: &mut Report) -> Result<(), BenchError> {
    let (megabytes, most) = BACKUP;
    judged(report, "backup", recovery::timed_backup(megabytes), |(bytes, took)| {
        let size = bytes / 1_000_000;
        vec![Row::at_most(format!("backup of {size} MB, made and checked: seconds"), took.as_secs_f64(), most)]
    })
}

fn recovered(report: &mut Report) -> Result<(), BenchError> {
    let what = "recovery code on a new profile";
    judged(report, what, recovery::on_new_profiles(PROFILES), |same| {
        vec![Row::at_least(format!("{what}: the same export, of {PROFILES}"), same as f64, PROFILES as f64)]
    })
}

fn searched(report: &mut Report, what: &str, places: &str, outcome: Result<Searched, FaultError>) -> Result<(), BenchError> {
    judged(report, what, outcome, |searched| {
        let Searched { files, bytes, found } = searched;
        let metric = format!("{what}: found in {files} {places}, {} KB", bytes / 1_000);
        vec![Row::at_most(metric, found as f64, 0.0)]
    })
}

fn fed(report: &mut Report, reader: Reader, progress: Progress) -> Result<(), BenchError> {
    progress.say(&format!("  {}", reader.name()));
    let what = format!("hostile {}", reader.name());
    judged(report, &what, feed(reader, FED, 1), |fed| {
        vec![Row::reported(format!("{what}: inputs in {} s, none of which broke the reader", FED.as_secs()), fed.inputs as f64)]
    })
}
