//! How long it takes, on request.

use crate::vault::{Vault, add, on};
use evenkeel_store::backup::{self, Progress, Step};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

#[test]
#[ignore = "prints times; run with EVENKEEL_FIGURES_MB=100 --nocapture"]
fn measure() {
    let megabytes: u64 = std::env::var("EVENKEEL_FIGURES_MB").map_or(100, |n| n.parse().unwrap());
    let vault = Vault::with(1);
    let store = vault.store();
    let messages = megabytes * 1_000_000 / 4_400;
    add(&store, 2, messages);
    let mut steps: Vec<(Step, Instant)> = Vec::new();
    let mut watch = |progress: Progress| {
        if steps.last().is_none_or(|(step, _)| *step != progress.step) {
            steps.push((progress.step, Instant::now()));
        }
        ControlFlow::Continue(())
    };
    let begun = Instant::now();
    let info = store.backup_to(&vault.request(&vault.profile.backups(), 1, None), &mut watch).unwrap();
    let took = begun.elapsed();
    println!("backup of {} MB, {messages} messages: {took:?}", info.size_bytes / 1_000_000);
    for (n, (step, at)) in steps.iter().enumerate() {
        let end = steps.get(n + 1).map_or(begun + took, |(_, at)| *at);
        println!("  {step:?} {:?}", end - *at);
    }
    let timed = |what: &str, work: &dyn Fn()| {
        let begun = Instant::now();
        work();
        println!("{what}: {:?}", begun.elapsed());
    };
    timed("list", &|| assert_eq!(vault.list().len(), 1));
    timed("verify", &|| assert_eq!(vault.verify(&info.path).unwrap().size_bytes, info.size_bytes));
    timed("preview", &|| {
        let preview = backup::preview(&info.path, vault.keys(), &vault.profile, Some(&store), &mut on).unwrap();
        assert_eq!((preview.lost_messages, preview.then.messages), (0, messages));
    });
    drop(store);
    timed("restore", &|| assert_eq!(vault.restore(&info.path).unwrap().counts.messages, messages));
    assert!(took < Duration::from_secs(600), "a backup took {took:?}");
}
