//! What the inflections of a word have in common.
//!
//! The index holds words as they stand, since one index serves every language and half-typed words.
//! So endings are folded when something is looked for: a few that English, German, Spanish and French
//! share, stripped from what is long enough to spare them. It need not be a word of any language, only
//! the same for the inflections of one, and seldom the same for two words.

use evenkeel_domain::plain_word;
use std::collections::HashMap;
use std::sync::OnceLock;

/// Shorter words have no ending.
const SHORTEST: usize = 4;
/// Endings in the order they are tried, each with the letters that have to stay before it, and
/// whether a doubled letter before it is one (`running`).
const ENDINGS: [(&str, usize, bool); 14] = [
    ("ingly", 4, true),
    ("edly", 4, true),
    ("ings", 3, true),
    ("ing", 3, true),
    ("ies", 2, false),
    ("ied", 2, false),
    ("ed", 3, true),
    ("es", 3, false),
    ("en", 4, false),
    ("em", 4, false),
    ("er", 4, true),
    ("ly", 4, false),
    ("n", 5, false),
    ("s", 3, false),
];
/// Endings with which the index is asked.
const FORMS: [&str; 21] =
    ["", "s", "e", "es", "ed", "d", "ing", "ings", "er", "ers", "ly", "en", "em", "n", "a", "as", "o", "os", "y", "ies", "ied"];
/// Verbs and nouns of English that change within.
const IRREGULAR: &[&str] = &[
    "go went gone goes going",
    "buy bought",
    "bring brought",
    "think thought",
    "teach taught",
    "catch caught",
    "fight fought",
    "seek sought",
    "eat ate eaten",
    "drink drank drunk",
    "sing sang sung song",
    "swim swam swum",
    "run ran",
    "begin began begun",
    "ring rang rung",
    "sleep slept",
    "keep kept",
    "feel felt",
    "leave left",
    "meet met",
    "lose lost",
    "win won",
    "find found",
    "break broke broken",
    "speak spoke spoken",
    "steal stole stolen",
    "choose chose chosen choice",
    "freeze froze frozen",
    "write wrote written",
    "drive drove driven",
    "ride rode ridden",
    "rise rose risen",
    "give gave given gift",
    "take took taken",
    "shake shook shaken",
    "get got gotten",
    "forget forgot forgotten",
    "grow grew grown growth",
    "throw threw thrown",
    "fly flew flown flight",
    "draw drew drawn",
    "wear wore worn",
    "tear tore torn",
    "fall fell fallen",
    "sell sold",
    "build built",
    "send sent",
    "spend spent",
    "lend lent",
    "hold held",
    "stand stood",
    "understand understood",
    "sit sat",
    "hear heard",
    "read reading",
    "lead led",
    "make made",
    "become became",
    "come came",
    "see saw seen",
    "hide hid hidden",
    "bite bit bitten",
    "die died death",
    "child children",
    "foot feet",
    "tooth teeth",
    "mouse mice",
    "wife wives",
];

/// What is common to the inflections of a word that is in small letters without marks.
pub(super) fn stem(word: &str) -> String {
    if let Some(family) = family(word) {
        return family.to_owned();
    }
    let bare = stripped(word);
    family(&bare).map_or(bare.clone(), str::to_owned)
}

/// The first word of the family that an irregular word belongs to.
fn family(word: &str) -> Option<&'static str> {
    static FIRST: OnceLock<HashMap<&'static str, &'static str>> = OnceLock::new();
    let first = FIRST.get_or_init(|| {
        let members = |family: &&'static str| {
            let first = family.split(' ').next().unwrap_or_default();
            family.split(' ').map(move |one| (one, first)).collect::<Vec<_>>()
        };
        IRREGULAR.iter().flat_map(members).collect()
    });
    first.get(word).copied()
}

fn stripped(word: &str) -> String {
    if word.chars().count() < SHORTEST || word.chars().any(|c| c.is_ascii_digit()) {
        return word.to_owned();
    }
    let mut bare = word;
    let mut has_doubled = false;
    // Twice: the plural of an agent or of a participle (`campers`, `Kindern`).
    for _ in 0..2 {
        let ending = ENDINGS.iter().find(|(ending, stays, _)| fits(bare, ending, *stays));
        let Some((ending, _, doubles)) = ending else { break };
        bare = &bare[..bare.len() - ending.len()];
        has_doubled |= doubles;
        if ending.starts_with("ie") {
            return format!("{bare}i");
        }
    }
    let mut letters: Vec<char> = bare.chars().collect();
    if let (true, [.., one, two]) = (has_doubled && letters.len() > 3, letters.as_slice())
        && one == two
        && !"lsz".contains(*two)
    {
        letters.pop();
    }
    if letters.len() > 3 {
        match letters.pop() {
            Some('y') => letters.push('i'),
            Some(last) if !"eao".contains(last) => letters.push(last),
            _ => {}
        }
    }
    letters.into_iter().collect()
}

fn fits(word: &str, ending: &str, stays: usize) -> bool {
    let Some(before) = word.strip_suffix(ending) else { return false };
    // "ss", "us" and "is" are no plurals.
    let is_plural = ending != "s" || !before.ends_with(['s', 'u', 'i']);
    is_plural && before.chars().count() >= stays
}

/// The inflections of a word that the index is asked for, the word as it stands among them.
pub(super) fn forms(word: &str) -> Vec<String> {
    let plain = plain_word(word);
    let stem_of = stem(&plain);
    let mut forms = vec![word.to_lowercase(), plain.clone()];
    if let Some(family) = IRREGULAR.iter().find(|family| family.split(' ').next() == Some(stem_of.as_str())) {
        forms.extend(family.split(' ').map(str::to_owned));
    }
    let base = stem_of.strip_suffix('i').unwrap_or(&stem_of).to_owned();
    for ending in FORMS {
        forms.push(format!("{stem_of}{ending}"));
        forms.push(format!("{base}{ending}"));
    }
    if let Some(last) = stem_of.chars().next_back().filter(char::is_ascii_alphabetic) {
        forms.extend(["ing", "ed", "er"].map(|ending| format!("{stem_of}{last}{ending}")));
    }
    let mut kept: Vec<String> = Vec::new();
    for form in forms {
        if !kept.contains(&form) && stem(&plain_word(&form)) == stem_of {
            kept.push(form);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inflections_have_one_stem() {
        for family in [
            "camp camps camped camping",
            "bake bakes baked baking",
            "hobby hobbies",
            "marry marries married marrying",
            "run runs running ran runner",
            "travel travels traveled traveling",
            "buy buys buying bought",
            "adopt adopts adopted adopting",
            "hund hunde hunden hundes",
            "lehrer lehrern",
            "casa casas",
            "maison maisons",
            "study studies studied studying",
        ] {
            let stems: Vec<String> = family.split(' ').map(stem).collect();
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{family}: {stems:?}");
        }
    }

    #[test]
    fn other_words_have_others() {
        for (one, two) in [("camp", "campaign"), ("bus", "bush"), ("glass", "glas"), ("2024", "2025"), ("string", "strong")] {
            assert_ne!(stem(one), stem(two), "{one} {two}");
        }
        assert_eq!((stem("is"), stem("это"), stem("")), ("is".into(), "это".into(), String::new()));
    }

    #[test]
    fn the_index_is_asked_for_the_forms_of_a_word_and_no_others() {
        let camping = forms("Camping");
        for form in ["camping", "camp", "camps", "camped"] {
            assert!(camping.contains(&form.to_owned()), "{form}: {camping:?}");
        }
        assert!(forms("hobbies").contains(&"hobby".to_owned()) && forms("bought").contains(&"buying".to_owned()));
        assert!(forms("Grüße").contains(&"grüße".to_owned()));
        for word in ["running", "Kinder", "études", "naïve", "2024", "go"] {
            let stem_of = stem(&plain_word(word));
            assert!(forms(word).iter().all(|form| stem(&plain_word(form)) == stem_of), "{word}");
            assert!(forms(word).len() <= 30, "{word}: {}", forms(word).len());
        }
    }
}
