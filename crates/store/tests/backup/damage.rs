//! Damage to the file, wherever it strikes, is found and never taken for a wrong key.

use crate::vault::{Vault, failed};
use evenkeel_store::backup::{BackupError, BackupResult};
use std::fs;

/// SplitMix64: the same places on every run.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn refused(vault: &Vault, path: &std::path::Path, what: &str) {
    let error = failed(vault.verify(path));
    assert!(matches!(error, BackupError::Damaged { .. }), "{what}: {error}");
}

#[test]
fn a_flipped_bit_anywhere_is_found() {
    let vault = Vault::with(20);
    let path = vault.back_up(1).path;
    let whole = fs::read(&path).unwrap();
    let mut seed = 7;
    // Every stretch of the file is struck, and the front, which is short, more often.
    let stretches = (0..260).map(|n| n * whole.len() / 260).zip(std::iter::repeat(whole.len() / 260));
    let front = (0..40).map(|n| (n * 60, 60));
    let mut struck = 0;
    for (from, length) in stretches.chain(front) {
        let at = from + usize::try_from(next(&mut seed)).unwrap() % length;
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << (next(&mut seed) % 8);
        fs::write(&path, &flipped).unwrap();
        refused(&vault, &path, &format!("byte {at} of {}", whole.len()));
        struck += 1;
    }
    assert_eq!(struck, 300);
    let listed = vault.list();
    assert!(matches!(listed[0].result, BackupResult::Damaged { .. }) && path.exists(), "listed as such, not deleted");
    fs::write(&path, &whole).unwrap();
    vault.verify(&path).unwrap();
    assert_eq!(vault.list()[0].result, BackupResult::Verified);
}

#[test]
fn a_file_that_is_cut_lengthened_or_shuffled_is_found() {
    let vault = Vault::with(20);
    let path = vault.back_up(1).path;
    let whole = fs::read(&path).unwrap();
    for n in 0..40 {
        fs::write(&path, &whole[..n * whole.len() / 40]).unwrap();
        refused(&vault, &path, &format!("cut to {n} fortieths"));
        assert!(matches!(vault.list()[0].result, BackupResult::Damaged { .. }), "cut to {n} fortieths");
    }
    for more in [1, 4_096] {
        let mut longer = whole.clone();
        longer.resize(whole.len() + more, 0);
        fs::write(&path, &longer).unwrap();
        refused(&vault, &path, "lengthened");
    }
    let pages = whole.len() / 4_096 - 1;
    for n in 1..pages - 1 {
        let mut shuffled = whole.clone();
        let (a, b) = (whole.len() - n * 4_096, whole.len() - (n + 1) * 4_096);
        shuffled[a..a + 4_096].copy_from_slice(&whole[b..b + 4_096]);
        shuffled[b..b + 4_096].copy_from_slice(&whole[a..a + 4_096]);
        fs::write(&path, &shuffled).unwrap();
        refused(&vault, &path, &format!("pages {n} and {} from the end exchanged", n + 1));
    }
}

#[test]
fn a_damaged_backup_is_not_restored() {
    let vault = Vault::with(20);
    let path = vault.back_up(1).path;
    let before = vault.contents();
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 100;
    bytes[last] ^= 4;
    fs::write(&path, bytes).unwrap();
    assert!(matches!(failed(vault.restore(&path)), BackupError::Damaged { .. }));
    assert_eq!(vault.contents(), before);
}
