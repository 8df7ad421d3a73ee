#![allow(clippy::unwrap_used)]
use super::*;
use proptest::prelude::*;

fn folder(dir: &Path, name: &str) -> Profile {
    let profile = Profile::new(dir.canonicalize().unwrap().join(name));
    fs::create_dir_all(profile.dir()).unwrap();
    profile
}

fn note(profile: &Profile, number: u64, stand: Stand) {
    Note::new(number, Uuid::nil(), stand).write(profile).unwrap();
}

fn left(to: &Profile) -> Stand {
    Stand::Left { to: to.dir().to_owned() }
}

fn arriving(from: &Profile) -> Stand {
    Stand::Arriving { from: from.dir().to_owned(), before: None, entries: Vec::new() }
}

#[test]
fn without_a_note_the_data_is_where_one_looks() {
    let dir = tempfile::tempdir().unwrap();
    for start in [folder(dir.path(), "there"), Profile::new(dir.path().join("not there"))] {
        let place = Place::of(&start).unwrap();
        assert_eq!((place.profile(), place.left.len()), (&start, 0));
    }
}

#[test]
fn a_circle_is_an_error_and_ends() {
    let dir = tempfile::tempdir().unwrap();
    let [a, b, c] = ["a", "b", "c"].map(|name| folder(dir.path(), name));
    for circle in [vec![&a], vec![&a, &b], vec![&a, &b, &c]] {
        for (at, profile) in circle.iter().enumerate() {
            note(profile, 7, left(circle[(at + 1) % circle.len()]));
        }
        let error = Place::of(&a).unwrap_err();
        assert!(matches!(error, VaultError::Damaged { .. }), "{error}");
    }
    note(&a, 7, arriving(&b));
    note(&b, 7, arriving(&a));
    assert!(matches!(Place::of(&a), Err(VaultError::Damaged { .. })), "nor do copies that never came lead on for ever");
}

#[test]
fn a_copy_counts_from_the_moment_that_the_old_folder_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let [old, new] = ["old", "new"].map(|name| folder(dir.path(), name));
    let found = |start: &Profile| Place::of(start).unwrap().profile().clone();
    note(&old, 0, Stand::Leaving { to: new.dir().to_owned(), made_folder: true });
    note(&new, 1, arriving(&old));
    assert_eq!([found(&old), found(&new)], [old.clone(), old.clone()]);
    note(&old, 1, left(&new));
    assert_eq!([found(&old), found(&new)], [new.clone(), new.clone()]);
    note(&new, 1, Stand::Here);
    assert_eq!([found(&old), found(&new)], [new.clone(), new.clone()]);
    // And back again.
    note(&new, 1, Stand::Leaving { to: old.dir().to_owned(), made_folder: false });
    let before = Some(Former { number: 1, to: new.dir().to_owned() });
    note(&old, 2, Stand::Arriving { from: new.dir().to_owned(), before, entries: Vec::new() });
    assert_eq!([found(&old), found(&new)], [new.clone(), new.clone()]);
    note(&new, 2, left(&old));
    assert_eq!([found(&old), found(&new)], [old.clone(), old.clone()]);
}

#[test]
fn what_is_not_there_is_away_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let [start, drive] = ["start", "drive"].map(|name| folder(dir.path(), name));
    let target = Profile::new(drive.dir().join("evenkeel"));
    note(&start, 1, left(&target));
    let away = |why: &str| {
        let error = Place::of(&start).unwrap_err();
        assert!(matches!(&error, VaultError::Away { path, .. } if path == target.dir()), "{why}: {error}");
        assert_eq!(error.code(), evenkeel_domain::ErrorCode::VaultAway);
        assert!(start.traces().moved && start.traces().any(), "{why}: a new vault would be made");
    };
    away("no folder");
    fs::remove_dir(drive.dir()).unwrap();
    away("no drive");
    fs::create_dir_all(target.dir()).unwrap();
    away("an empty folder, as a mount point is");
    // Not even a vault that someone else has there: it did not come from here.
    fs::write(target.database(), b"x").unwrap();
    away("a folder without a note");
    fs::remove_dir_all(target.dir()).unwrap();
    fs::write(target.dir(), b"x").unwrap();
    away("a file");
    fs::remove_file(target.dir()).unwrap();
    fs::create_dir(target.dir()).unwrap();
    note(&target, 1, Stand::Here);
    assert_eq!(Place::of(&start).unwrap().profile(), &target);
}

#[test]
fn a_note_that_cannot_be_understood_is_no_way_to_a_new_vault() {
    let dir = tempfile::tempdir().unwrap();
    let start = folder(dir.path(), "start");
    let sound = |stand: &str| format!(r#"{{"format":1,"number":1,"vaultId":"{}","stand":{stand}}}"#, Uuid::nil());
    for text in [
        String::new(),
        "{".to_owned(),
        sound(r#"{"kind":"left","to":"relative/folder"}"#),
        sound(r#"{"kind":"gone"}"#),
        sound(r#"{"kind":"arriving","from":"/a","before":null,"entries":["../../etc/passwd"]}"#),
        sound(r#"{"kind":"arriving","from":"/a","before":null,"entries":["/etc/passwd"]}"#),
        sound(r#"{"kind":"here"}"#).replace("\"format\":1", "\"format\":2"),
    ] {
        fs::write(start.place_note(), &text).unwrap();
        assert!(matches!(Place::of(&start), Err(VaultError::Damaged { .. })), "{text}");
        assert!(start.traces().any(), "{text}");
    }
    fs::write(start.place_note(), sound(r#"{"kind":"here"}"#)).unwrap();
    assert!(Place::of(&start).is_ok() && !start.traces().any());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// However often the data is moved, to new folders or back to old ones: from every folder where
    /// it ever was the way leads to where it is.
    #[test]
    fn every_way_leads_to_the_last_place(moves in prop::collection::vec(0usize..5, 1..20)) {
        let dir = tempfile::tempdir().unwrap();
        let folders: Vec<_> = (0..5).map(|n| folder(dir.path(), &n.to_string())).collect();
        let (mut at, mut been) = (0, vec![0]);
        for (number, to) in (1..).zip(moves) {
            if to == at {
                continue;
            }
            note(&folders[to], number, arriving(&folders[at]));
            note(&folders[at], number, left(&folders[to]));
            note(&folders[to], number, Stand::Here);
            at = to;
            been.push(to);
            for start in &been {
                let place = Place::of(&folders[*start]).unwrap();
                prop_assert_eq!(place.profile(), &folders[at]);
            }
        }
    }
}
