//! The shell's own words in the app's language. They stand in the pages' catalogues, so that each
//! language is written in one place.

use crate::error::ShellError;
use serde::Deserialize;

/// The catalogue of each language of the app, by its tag.
const CATALOGUES: [(&str, &str); 3] = [
    ("en", include_str!("../../ui/src/lib/i18n/locales/en.json")),
    ("de", include_str!("../../ui/src/lib/i18n/locales/de.json")),
    ("ar", include_str!("../../ui/src/lib/i18n/locales/ar.json")),
];

/// The entries of the tray's menu.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct TrayWords {
    /// Opens the small window.
    #[serde(rename = "tray.quick")]
    pub quick: String,
    /// Opens the main window.
    #[serde(rename = "tray.open")]
    pub open: String,
    /// Locks the vault.
    #[serde(rename = "tray.lock")]
    pub lock: String,
    /// Asks for what opens the vault, in the place of the entry that locks it.
    #[serde(rename = "tray.unlock")]
    pub unlock: String,
    /// Says beside the icon that the vault is locked.
    #[serde(rename = "tray.locked")]
    pub locked: String,
    /// Ends the app.
    #[serde(rename = "tray.quit")]
    pub quit: String,
}

/// The tray's words for a language setting: a BCP 47 tag, or `system`.
///
/// # Errors
/// A catalogue lacks one of them; a test sees to it that none does.
pub fn tray(setting: &str) -> Result<TrayWords, ShellError> {
    let system = system_languages(|name| std::env::var(name).ok());
    Ok(serde_json::from_str(catalogue(setting, &system))?)
}

/// What is said of contexts that expire within a day.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct ExpiryWords {
    /// Of one that is not named.
    #[serde(rename = "tray.expiring")]
    nameless: String,
    /// Of one with a name, in the place of `{name}`.
    #[serde(rename = "tray.expiringNamed")]
    named: String,
}

/// The sentence for a context that expires within a day, in the language of a setting; it names the
/// context only where its name is given.
///
/// # Errors
/// As for [`tray`].
pub fn expiring(setting: &str, name: Option<&str>) -> Result<String, ShellError> {
    let system = system_languages(|name| std::env::var(name).ok());
    let words: ExpiryWords = serde_json::from_str(catalogue(setting, &system))?;
    Ok(match name {
        Some(name) => words.named.replace("{name}", name),
        None => words.nameless,
    })
}

/// What is said of an operation that took long and is over.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct LongOperationWords {
    /// Of one whose tool is not named.
    #[serde(rename = "tray.longOperation")]
    nameless: String,
    /// Of one whose tool stands in the place of `{name}`.
    #[serde(rename = "tray.longOperationNamed")]
    named: String,
}

/// The sentence for the end of an operation that took long, in the language of a setting; it names the tool only where
/// its name is given.
///
/// # Errors
/// As for [`tray`].
pub fn long_operation(setting: &str, tool: Option<&str>) -> Result<String, ShellError> {
    let system = system_languages(|name| std::env::var(name).ok());
    let words: LongOperationWords = serde_json::from_str(catalogue(setting, &system))?;
    Ok(match tool {
        Some(tool) => words.named.replace("{name}", tool),
        None => words.nameless,
    })
}

/// The first language wished for that the app has; English where it has none of them, as in the pages.
fn catalogue(setting: &str, system: &[String]) -> &'static str {
    let wishes: Vec<&str> = if setting == "system" { system.iter().map(String::as_str).collect() } else { vec![setting] };
    let of = |tag: &str| CATALOGUES.iter().find(|(known, _)| *known == tag).map(|(_, catalogue)| *catalogue);
    wishes.iter().find_map(|wish| of(primary(wish))).unwrap_or(CATALOGUES[0].1)
}

/// `de` of `de-AT`, `de_AT.UTF-8` and `de@euro`.
fn primary(tag: &str) -> &str {
    tag.split(['-', '_', '.', '@']).next().unwrap_or(tag)
}

/// The languages of the session, the most wanted first, by the rules of the web view's own system: `LANGUAGE` is a list
/// that counts where a locale other than `C` is set.
fn system_languages(variable: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let set = |name| variable(name).filter(|value| !value.is_empty());
    let Some(locale) = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().find_map(set) else { return Vec::new() };
    if matches!(locale.as_str(), "C" | "POSIX") {
        return Vec::new();
    }
    set("LANGUAGE").map_or_else(|| vec![locale], |list| list.split(':').map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::path::Path;

    fn words(setting: &str, system: &[&str]) -> TrayWords {
        let system: Vec<String> = system.iter().map(|tag| (*tag).to_owned()).collect();
        serde_json::from_str(catalogue(setting, &system)).unwrap()
    }

    #[test]
    fn every_language_of_the_pages_has_every_word_of_the_tray() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui/src/lib/i18n/locales");
        let mut tags: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
            .collect();
        tags.sort();
        let mut known: Vec<_> = CATALOGUES.iter().map(|(tag, _)| *tag).collect();
        known.sort_unstable();
        assert_eq!(tags, known);
        let mut seen = Vec::new();
        for tag in tags {
            let said = words(&tag, &[]);
            for word in [&said.quick, &said.open, &said.lock, &said.unlock, &said.locked, &said.quit] {
                assert!(!word.trim().is_empty() && !seen.contains(word), "{tag}: {word:?}");
                seen.push(word.clone());
            }
        }
    }

    #[test]
    fn a_notification_names_a_context_or_a_tool_only_where_it_may() {
        for (tag, _) in CATALOGUES {
            for said in [expiring, long_operation] {
                let (plain, named) = (said(tag, None).unwrap(), said(tag, Some("Ada Calm")).unwrap());
                assert!(named.contains("Ada Calm") && !named.contains('{'), "{tag}: {named}");
                assert!(!plain.contains("Ada Calm") && !plain.contains('{') && !plain.trim().is_empty(), "{tag}: {plain}");
            }
        }
    }

    #[test]
    fn a_setting_and_the_system_choose_the_language() {
        let (english, german, arabic) = (words("en", &[]), words("de", &[]), words("ar", &[]));
        for (setting, system, expected) in [
            ("de-AT", vec![], &german),
            ("system", vec!["fr_FR.UTF-8", "ar_EG"], &arabic),
            ("system", vec!["de@euro", "ar"], &german),
            ("system", vec!["fr"], &english),
            ("system", vec![], &english),
            ("xx", vec!["de"], &english),
        ] {
            assert_eq!(&words(setting, &system), expected, "{setting} {system:?}");
        }
    }

    #[test]
    fn the_session_says_its_languages() {
        let languages = |set: &[(&str, &str)]| {
            system_languages(|name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
        };
        assert_eq!(languages(&[("LANG", "de_DE.UTF-8")]), ["de_DE.UTF-8"]);
        assert_eq!(languages(&[("LANG", "de_DE"), ("LC_ALL", "ar_EG")]), ["ar_EG"]);
        assert_eq!(languages(&[("LANG", "en_US"), ("LANGUAGE", "ar:de")]), ["ar", "de"]);
        assert_eq!(languages(&[("LANG", "en_US"), ("LC_ALL", ""), ("LANGUAGE", "")]), ["en_US"]);
        assert!(languages(&[("LANG", "C"), ("LANGUAGE", "de")]).is_empty());
        assert!(languages(&[("LANGUAGE", "de")]).is_empty());
    }
}
