#![allow(clippy::unwrap_used)]
use super::*;
use crate::{CreateOptions, create, unlock_recovery};
use proptest::prelude::*;
use std::collections::BTreeMap;

const FILES: [&str; 10] = [
    "vault.db",
    "vault.db-wal",
    "vault.db.pre-restore-20260101T000000Z",
    "vault.keys.damaged-1",
    "backups/a.ekbackup",
    "backups/backups.json",
    "models/own.gguf",
    "models/deep/other.gguf",
    "forgetting.json",
    "letter.txt",
];

struct Room {
    dir: tempfile::TempDir,
    profile: Profile,
    code: String,
}

impl Room {
    /// A profile with a vault and a file of every kind.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let profile = Profile::new(dir.path().canonicalize().unwrap().join("profile"));
        let lock = VaultLock::exclusive(&profile).unwrap();
        let made = create(&profile, CreateOptions { recovery_only: true, ..CreateOptions::default() }, &lock).unwrap();
        fs::create_dir_all(profile.models().join("deep")).unwrap();
        for (at, name) in FILES.iter().enumerate() {
            fs::write(profile.dir().join(name), vec![u8::try_from(at).unwrap(); at * 700_001]).unwrap();
        }
        for folder in [profile.work().join("backup-1"), profile.jobs()] {
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("x.lock"), b"").unwrap();
        }
        Self { dir, profile, code: made.recovery_code.text().to_string() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    fn moved(&self, from: &Profile, to: &Path) -> Result<Moved, VaultError> {
        let lock = VaultLock::exclusive(from)?;
        move_profile(from, to, &lock, |copy: &Profile| {
            assert!(KeyFile::read(copy).is_ok());
            Ok(())
        })
    }

    /// What was in the profile, but for what no move takes along.
    fn original(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = tree(self.profile.dir());
        files.retain(|name, _| !(name.starts_with("work/") || name.starts_with("jobs/")));
        files
    }

    fn opens(&self, profile: &Profile) -> bool {
        KeyFile::read(profile).is_ok_and(|file| unlock_recovery(&file, &self.code).is_ok())
    }
}

/// Every file below a folder but locks and notes of places.
fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(tree(&path).into_iter().map(|(below, bytes)| (format!("{name}/{below}"), bytes)));
        } else if !["vault.lock", "place.json"].contains(&&*name) {
            found.insert(name, fs::read(path).unwrap());
        }
    }
    found
}

/// Everything below a folder, by name.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn everything_comes_along_and_only_what_is_not_ours_stays_behind() {
    for is_there in [false, true] {
        let room = Room::new();
        let (target, original) = (room.path("new"), room.original());
        if is_there {
            fs::create_dir(&target).unwrap();
        }
        assert_eq!(check_move(&room.profile, &target).unwrap(), target);
        let moved = room.moved(&room.profile, &target).unwrap();
        assert_eq!((moved.profile.dir(), moved.is_cleared), (&*target, true));
        assert_eq!(tree(&target), original);
        assert_eq!(names(room.profile.dir()), ["letter.txt", "place.json", "vault.lock"]);
        assert_eq!(Place::of(&room.profile).unwrap().profile(), &moved.profile);
        assert!(room.opens(&moved.profile) && !moved.profile.traces().moved);
        #[cfg(unix)]
        for name in FILES.iter().chain(&["vault.keys", "backups", "models", "models/deep", ""]) {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(target.join(name)).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode & 0o077, 0, "{name}");
        }
    }
}

#[test]
fn a_folder_that_holds_something_gets_one_of_its_own_inside() {
    let room = Room::new();
    let chosen = room.path("documents");
    fs::create_dir(&chosen).unwrap();
    fs::write(chosen.join("thesis.txt"), b"mine").unwrap();
    let moved = room.moved(&room.profile, &chosen).unwrap();
    assert_eq!(moved.profile.dir(), chosen.join("evenkeel"));
    assert_eq!(names(&chosen), ["evenkeel", "thesis.txt"]);
    // From there on, to an empty one, and back to where it began, where it now leads on from.
    let second = room.moved(&moved.profile, &room.path("second")).unwrap();
    assert_eq!(Place::of(&room.profile).unwrap().profile(), &second.profile);
    fs::remove_file(room.profile.dir().join("letter.txt")).unwrap();
    let home = room.moved(&second.profile, room.profile.dir()).unwrap();
    assert_eq!(home.profile, room.profile);
    for start in [&room.profile, &moved.profile, &second.profile] {
        assert_eq!(Place::of(start).unwrap().profile(), &room.profile);
    }
    assert!(room.opens(&room.profile));
    // And once more along the same way, past what is none of ours.
    fs::remove_file(second.profile.dir().join("letter.txt")).unwrap();
    assert_eq!(room.moved(&room.profile, second.profile.dir()).unwrap().profile, second.profile);
    assert_eq!(Place::of(&moved.profile).unwrap().profile(), &second.profile);
}

#[test]
fn a_place_that_will_not_do_is_refused_and_nothing_changes() {
    let room = Room::new();
    let full = room.path("full");
    fs::create_dir_all(full.join("evenkeel")).unwrap();
    fs::write(full.join("evenkeel/x"), b"x").unwrap();
    fs::write(room.path("file"), b"x").unwrap();
    let outer = room.path("outer");
    fs::create_dir_all(outer.join("evenkeel/profiles")).unwrap();
    let inner = Profile::new(outer.join("evenkeel/profiles/a"));
    drop(VaultLock::exclusive(&inner).unwrap());
    let mut cases = vec![
        (&room.profile, PathBuf::from("relative")),
        (&room.profile, room.profile.dir().to_owned()),
        (&room.profile, room.profile.dir().join("below")),
        (&room.profile, room.profile.backups()),
        (&room.profile, room.path("profile/../profile/models")),
        (&room.profile, room.path("file")),
        (&room.profile, full),
        (&room.profile, room.path("missing/new")),
        (&room.profile, room.path("missing/..")),
        (&inner, outer),
    ];
    #[cfg(unix)]
    {
        for (to, name) in [(room.profile.dir().to_owned(), "inwards"), (room.path("nowhere"), "dangling")] {
            std::os::unix::fs::symlink(to, room.path(name)).unwrap();
            cases.push((&room.profile, room.path(name)));
        }
        fs::create_dir(room.path("trap")).unwrap();
        std::os::unix::fs::symlink(room.path("elsewhere"), room.path("trap/evenkeel")).unwrap();
        cases.push((&room.profile, room.path("trap")));
    }
    let before = (tree(room.profile.dir()), names(room.dir.path()));
    for (profile, to) in cases {
        let error = check_move(profile, &to).unwrap_err();
        assert!(matches!(error, VaultError::MoveRefused { .. }), "{}: {error}", to.display());
        if profile == &room.profile {
            let error = room.moved(profile, &to).unwrap_err();
            assert!(matches!(error, VaultError::MoveRefused { .. }), "{}: {error}", to.display());
        }
    }
    assert!((tree(room.profile.dir()), names(room.dir.path())) == before);
    assert!(!room.profile.dir().join("place.json").exists());
    let shared = VaultLock::shared(&room.profile).unwrap();
    let outcome = move_profile(&room.profile, &room.path("new"), &shared, |_| Ok::<_, VaultError>(()));
    assert!(matches!(outcome, Err(VaultError::InUse)));
    assert!(!room.path("new").exists());
}

#[cfg(unix)]
#[test]
fn links_and_what_is_no_file_are_refused_by_name_and_not_followed() {
    let room = Room::new();
    fs::write(room.path("far.gguf"), b"x").unwrap();
    for (name, to) in [("models/link.gguf", "far.gguf"), ("models/deep/dangling", "nowhere"), ("folder", "models")] {
        let link = room.profile.dir().join(name);
        std::os::unix::fs::symlink(room.path(to), &link).unwrap();
        let error = room.moved(&room.profile, &room.path("new")).unwrap_err();
        assert!(matches!(&error, VaultError::MoveRefused { path, .. } if *path == link), "{error}");
        assert!(error.to_string().contains("link"), "{error}");
        assert!(!room.path("new").exists());
        fs::remove_file(link).unwrap();
    }
    let socket = room.profile.dir().join("models/socket");
    let _socket = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    assert!(matches!(room.moved(&room.profile, &room.path("new")), Err(VaultError::MoveRefused { path, .. }) if path == socket));
    fs::remove_file(socket).unwrap();
    fs::write(room.profile.dir().join("restore.journal"), b"{}").unwrap();
    assert!(matches!(room.moved(&room.profile, &room.path("new")), Err(VaultError::MoveRefused { .. })));
}

#[test]
fn a_disk_without_room_is_refused_with_the_figures() {
    let path = Path::new("/disk/evenkeel");
    let spare = 16 << 20;
    for (bytes, free, fits) in [
        (0, Some(spare), true),
        (0, Some(spare - 1), false),
        (1_000, Some(spare + 1_000), true),
        (1_000, Some(spare + 999), false),
        (u64::MAX, Some(u64::MAX - 1), false),
        (1_000, None, true),
    ] {
        let outcome = target::has_room(path, bytes, free);
        assert_eq!(outcome.is_ok(), fits, "{bytes} {free:?}");
        if let Err(error) = outcome {
            assert_eq!(error.code(), evenkeel_domain::ErrorCode::DiskFull);
            assert!(error.to_string().contains(&free.unwrap().to_string()), "{error}");
        }
    }
    // A sparse file as large as no disk of a test: the system's figure is asked for.
    let room = Room::new();
    let large = fs::File::create(room.profile.models().join("large.gguf")).unwrap();
    if cfg!(unix) && large.set_len(1 << 43).is_ok() {
        assert!(matches!(room.moved(&room.profile, &room.path("new")), Err(VaultError::NoRoom { .. })));
        assert!(!room.path("new").exists() && !room.profile.dir().join("place.json").exists());
    }
}

#[test]
fn a_copy_that_does_not_prove_itself_is_taken_apart_again() {
    let room = Room::new();
    let before = tree(room.profile.dir());
    let (new, empty) = (room.path("new"), room.path("empty"));
    fs::create_dir(&empty).unwrap();
    for target in [&new, &empty] {
        let lock = VaultLock::exclusive(&room.profile).unwrap();
        let outcome = move_profile(&room.profile, target, &lock, |copy: &Profile| {
            // What opening a database leaves beside it.
            fs::write(copy.dir().join("vault.db-shm"), b"x").unwrap();
            Err(VaultError::Missing)
        });
        assert!(matches!(outcome, Err(VaultError::Missing)));
        assert_eq!(tree(room.profile.dir()), before);
        assert!(!room.profile.dir().join("place.json").exists());
    }
    assert!(!new.exists(), "a folder that was made is removed");
    assert_eq!(names(&empty), Vec::<String>::new(), "one that was there stays, empty");
    let moved = room.moved(&room.profile, &new).unwrap();
    // Where it fails on the way back, the way there holds on.
    let lock = VaultLock::exclusive(&moved.profile).unwrap();
    fs::remove_file(room.profile.dir().join("letter.txt")).unwrap();
    let outcome = move_profile(&moved.profile, room.profile.dir(), &lock, |_| Err(VaultError::Missing));
    assert!(matches!(outcome, Err(VaultError::Missing)));
    assert_eq!(Place::of(&room.profile).unwrap().profile(), &moved.profile);
    assert!(tree(room.profile.dir()).is_empty() && room.opens(&moved.profile));
}

/// How far a move came before the machine stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    Announced,
    FolderMade,
    Claimed,
    /// So many files were copied, the last of them cut in half.
    Copied(usize),
    Published,
    /// The new folder knows that it counts, and so many old files are gone.
    Cleared(usize),
}

/// Leaves the files as a move leaves them that is cut off there.
fn cut_off(room: &Room, target: &Profile, cut: Cut) {
    let vault_id = KeyFile::read(&room.profile).unwrap().vault_id();
    let contents = Contents::of(&room.profile).unwrap();
    let to = target.dir().to_owned();
    Note::new(0, vault_id, Stand::Leaving { to: to.clone(), made_folder: true }).write(&room.profile).unwrap();
    if cut == Cut::Announced {
        return;
    }
    drop(VaultLock::exclusive(target).unwrap());
    if cut == Cut::FolderMade {
        return;
    }
    let stand = Stand::Arriving { from: room.profile.dir().to_owned(), before: None, entries: contents.entries() };
    Note::new(1, vault_id, stand).write(target).unwrap();
    match cut {
        Cut::Copied(count) => {
            for name in tree(room.profile.dir()).keys().filter(|name| contents.entries().contains(&name.into())).take(count) {
                let bytes = fs::read(room.profile.dir().join(name)).unwrap();
                fs::create_dir_all(target.dir().join(name).parent().unwrap()).unwrap();
                fs::write(target.dir().join(name), &bytes[..bytes.len() / 2]).unwrap();
            }
        }
        Cut::Published | Cut::Cleared(_) => {
            contents.copy(room.profile.dir(), &to).unwrap();
            Note::new(1, vault_id, Stand::Left { to }).write(&room.profile).unwrap();
        }
        _ => {}
    }
    if let Cut::Cleared(count) = cut {
        Note::new(1, vault_id, Stand::Here).write(target).unwrap();
        let mut ours: Vec<_> = tree(room.profile.dir()).into_keys().filter(|name| name != "letter.txt").collect();
        ours.sort_by_key(|name| !name.starts_with("vault.keys"));
        for name in ours.iter().take(count) {
            fs::remove_file(room.profile.dir().join(name)).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Wherever a move is cut off, the next start has the whole vault in one place, the old or the
    /// new one, and nothing of it in the other.
    #[test]
    fn a_move_that_is_cut_off_is_undone_or_finished(
        cut in prop_oneof![
            Just(Cut::Announced),
            Just(Cut::FolderMade),
            Just(Cut::Claimed),
            (1usize..12).prop_map(Cut::Copied),
            Just(Cut::Published),
            (0usize..12).prop_map(Cut::Cleared),
        ],
        from_new in any::<bool>(),
    ) {
        let room = Room::new();
        let (target, original) = (Profile::new(room.path("new")), room.original());
        cut_off(&room, &target, cut);
        let has_moved = matches!(cut, Cut::Published | Cut::Cleared(_));
        let expected = if has_moved { &target } else { &room.profile };
        // A start from the new folder knows the way too, once it is claimed.
        let knows = !matches!(cut, Cut::Announced | Cut::FolderMade | Cut::Cleared(_));
        let start = if from_new && knows { &target } else { &room.profile };
        let place = Place::of(start).unwrap();
        prop_assert_eq!(place.profile(), expected);
        place.finish(None).unwrap();
        place.finish(None).unwrap();
        if has_moved {
            prop_assert_eq!(tree(target.dir()), original);
            prop_assert_eq!(names(room.profile.dir()), ["letter.txt", "place.json", "vault.lock"]);
        } else {
            prop_assert!(!target.dir().exists());
            let mut left = tree(room.profile.dir());
            left.retain(|name, _| original.contains_key(name));
            prop_assert_eq!(left, original);
            prop_assert!(!room.profile.dir().join("place.json").exists());
        }
        prop_assert!(room.opens(Place::of(&room.profile).unwrap().profile()));
    }
}

#[test]
fn the_old_copy_stays_where_the_new_place_does_not_have_the_same_vault() {
    let room = Room::new();
    let target = Profile::new(room.path("new"));
    cut_off(&room, &target, Cut::Cleared(0));
    let before = tree(room.profile.dir());
    let (first, second, database) = (target.key_slots(), target.key_slots_copy(), target.database());
    let slots = fs::read(&first).unwrap();
    let other = Room::new();
    let foreign = fs::read(other.profile.key_slots()).unwrap();
    for (bytes, has_database) in [(Some(&foreign), true), (None, true), (Some(&slots), false)] {
        for path in [&first, &second] {
            let _ = fs::remove_file(path);
            if let Some(bytes) = bytes {
                fs::write(path, bytes).unwrap();
            }
        }
        if !has_database {
            fs::remove_file(&database).unwrap();
        }
        Place::of(&room.profile).unwrap().finish(None).unwrap();
        assert_eq!(tree(room.profile.dir()), before, "{has_database}");
    }
    fs::write(&database, b"x").unwrap();
    Place::of(&room.profile).unwrap().finish(None).unwrap();
    assert_eq!(names(room.profile.dir()), ["letter.txt", "place.json", "vault.lock"]);
}

#[test]
fn while_another_process_copies_or_reads_nothing_is_removed() {
    let room = Room::new();
    let target = Profile::new(room.path("new"));
    cut_off(&room, &target, Cut::Copied(5));
    let before = tree(target.dir());
    let other = VaultLock::shared(&room.profile).unwrap();
    assert!(matches!(Place::of(&room.profile).unwrap().finish(None), Err(VaultError::InUse)));
    assert!(matches!(Place::of(&room.profile).unwrap().finish(Some(&other)), Err(VaultError::InUse)));
    assert_eq!(tree(target.dir()), before);
    drop(other);
    let own = VaultLock::exclusive(&room.profile).unwrap();
    Place::of(&room.profile).unwrap().finish(Some(&own)).unwrap();
    assert!(!target.dir().exists());
}

#[test]
fn a_move_after_one_that_was_cut_off_begins_anew() {
    let room = Room::new();
    let (target, original) = (Profile::new(room.path("new")), room.original());
    cut_off(&room, &target, Cut::Copied(7));
    let moved = room.moved(&room.profile, target.dir()).unwrap();
    assert_eq!(moved.profile, target);
    assert_eq!(tree(target.dir()), original);
}

#[test]
fn a_copy_on_a_drive_that_is_away_is_kept_in_mind() {
    let room = Room::new();
    let drive = room.path("drive");
    fs::create_dir(&drive).unwrap();
    let target = Profile::new(drive.join("evenkeel"));
    cut_off(&room, &target, Cut::Copied(4));
    fs::rename(&drive, room.path("unplugged")).unwrap();
    let place = Place::of(&room.profile).unwrap();
    place.finish(None).unwrap();
    assert!(place.profile() == &room.profile && room.opens(&room.profile));
    fs::rename(room.path("unplugged"), &drive).unwrap();
    place.finish(None).unwrap();
    assert!(!target.dir().exists() && !room.profile.dir().join("place.json").exists());
}
