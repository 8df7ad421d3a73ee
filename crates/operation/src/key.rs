//! The names of fields, read by their words: tools write `projectId`, `project_id` and `ProjectIDs` for the same.

/// Words that end in "id" and name no id.
const NO_IDS: &[&str] = &[
    "acid", "aid", "android", "avoid", "bid", "covid", "did", "fluid", "grid", "hybrid", "invalid", "kid", "lid", "liquid",
    "mid", "paid", "raid", "rapid", "said", "solid", "unpaid", "valid", "void",
];

/// The words of a name in lower case, at most eight: `selectedAnswerIDs` is selected, answer, ids.
pub(crate) fn words(key: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for character in key.chars().take(120) {
        if !character.is_alphanumeric() {
            before = ' ';
            continue;
        }
        // "IDs" is one word, "APIKey" would be two; that it becomes one harms nothing here.
        let begins = before == ' ' || (character.is_uppercase() && !before.is_uppercase());
        if begins && words.len() == 8 {
            return words;
        }
        match words.last_mut() {
            Some(word) if !begins => word.extend(character.to_lowercase()),
            _ => words.push(character.to_lowercase().collect()),
        }
        before = character;
    }
    words
}

/// Whether a field of this name holds an id, or a list of them.
pub(crate) fn is_id(words: &[String]) -> bool {
    words.last().is_some_and(|last| {
        let is_word = matches!(last.as_str(), "id" | "ids" | "uuid" | "uuids" | "guid" | "guids");
        let singular = last.strip_suffix('s').unwrap_or(last);
        is_word || (singular.len() > 2 && singular.ends_with("id") && !NO_IDS.contains(&singular))
    })
}

/// What was done to a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    Created,
    Updated,
    Deleted,
}

impl Deed {
    /// The deed that a word names, as in `createdIds`, `"action": "deleted"` or `update_task`.
    pub(crate) fn of(word: &str) -> Option<Self> {
        Some(match word {
            "create" | "created" | "add" | "added" | "insert" | "inserted" | "new" => Self::Created,
            "update" | "updated" | "modify" | "modified" | "edit" | "edited" | "change" | "changed" | "rename" | "renamed" => {
                Self::Updated
            }
            "delete" | "deleted" | "remove" | "removed" | "destroy" | "destroyed" => Self::Deleted,
            _ => return None,
        })
    }

    /// The deed of words that say it is done, such as those of `deletedTasks`.
    pub(crate) fn done(words: &[String]) -> Option<Self> {
        let first = words.first()?;
        if first.ends_with("ed") { Self::of(first) } else { None }
    }
}

/// Whether words name when, by whom or in which part a deed was done, not to what: `createdAt`, `updatedFields`.
pub(crate) fn is_circumstance(words: &[String]) -> bool {
    const CIRCUMSTANCES: &[&str] = &[
        "at",
        "author",
        "by",
        "columns",
        "date",
        "field",
        "fields",
        "from",
        "keys",
        "message",
        "on",
        "properties",
        "reason",
        "since",
        "time",
        "timestamp",
        "user",
        "values",
        "version",
    ];
    words.iter().skip(1).any(|word| CIRCUMSTANCES.contains(&word.as_str()))
}

/// Whether a field of this name tells how many.
pub(crate) fn is_count(words: &[String]) -> bool {
    let counts = |word: &String| matches!(word.as_str(), "count" | "counts" | "total" | "totals" | "num" | "number" | "affected");
    let is_numbered = words.first().is_some_and(|first| first == "number") && words.get(1).is_none_or(|second| second != "of");
    !is_numbered && (words.first().is_some_and(counts) || words.last().is_some_and(|last| last != "number" && counts(last)))
}

/// Whether a field of this name holds a status.
pub(crate) fn is_status(word: &str) -> bool {
    matches!(word, "status" | "state" | "phase" | "stage")
}

/// Whether a word says that a value held before.
pub(crate) fn is_before(word: &str) -> bool {
    matches!(word, "old" | "previous" | "prev" | "former" | "from" | "before" | "original" | "prior")
}

/// Whether a word says that a value holds since.
pub(crate) fn is_after(word: &str) -> bool {
    matches!(word, "new" | "current" | "to" | "after" | "next" | "now")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_by_its_words_however_it_is_written() {
        for (key, expected) in [
            ("selectedAnswerIDs", vec!["selected", "answer", "ids"]),
            ("project_id", vec!["project", "id"]),
            ("Project-Id", vec!["project", "id"]),
            ("ID", vec!["id"]),
            ("$oid", vec!["oid"]),
            ("", vec![]),
            ("größeId", vec!["größe", "id"]),
        ] {
            assert_eq!(words(key), expected, "{key}");
        }
        assert_eq!(words(&"a_".repeat(5_000)).len(), 8);
    }

    #[test]
    fn ids_are_known_by_name_and_words_that_only_end_so_are_not() {
        for key in ["id", "taskId", "task_ids", "TASK_ID", "userid", "applicationids", "uuid", "$oid", "sessionID"] {
            assert!(is_id(&words(key)), "{key}");
        }
        for key in ["valid", "paid", "grid", "isValid", "idea", "identity", "video", "kids", "idle", ""] {
            assert!(!is_id(&words(key)), "{key}");
        }
    }

    #[test]
    fn counts_are_known_by_name() {
        for key in ["count", "totalCount", "total", "numFiles", "numberOfRows", "rows_affected", "affectedRows", "item_count"] {
            assert!(is_count(&words(key)), "{key}");
        }
        for key in ["number", "phoneNumber", "countdown", "country", "discount", "page"] {
            assert!(!is_count(&words(key)), "{key}");
        }
    }

    #[test]
    fn a_deed_is_told_apart_from_when_and_by_whom() {
        assert_eq!(Deed::done(&words("createdIds")), Some(Deed::Created));
        assert_eq!(Deed::done(&words("deleted")), Some(Deed::Deleted));
        assert_eq!(Deed::done(&words("newStatus")), None);
        assert!(is_circumstance(&words("createdAt")) && is_circumstance(&words("updated_by_id")));
        assert!(!is_circumstance(&words("deletedTasks")));
    }
}
