//! What is known of a language, and which language a text is in.

use super::wording::Wording;
use super::{arabic, english, french, german, japanese, spanish};
use std::collections::HashSet;
use std::sync::LazyLock;

/// The words of one language, divided by `|`. A phrase is found anywhere in a text; `^` in front of it
/// ties it to the beginning, `$` behind it to the end. All are in lower case; apostrophes are left out,
/// in French they are blanks.
pub(super) struct Rows {
    /// Words that name no thing: articles, prepositions, auxiliaries, question words, common verbs.
    pub(super) stop: &'static str,
    /// Words after which a thing is named that a pronoun behind it can stand for.
    pub(super) determiners: &'static str,
    /// Joins a message to something.
    pub(super) connectives: &'static str,
    /// Words that stand for a thing or a person.
    pub(super) pronouns: &'static str,
    /// Uses of a pronoun that stand for nothing: "it is raining".
    pub(super) empty_pronouns: &'static str,
    /// "This" and "that" for something outside of the message.
    pub(super) demonstratives: &'static str,
    /// Names what was said.
    pub(super) references: &'static str,
    /// Leaves something out.
    pub(super) ellipses: &'static str,
    /// Asks for the reply in another form.
    pub(super) reworks: &'static str,
    /// Answers, judges, thanks.
    pub(super) responses: &'static str,
    /// Says that something else begins.
    pub(super) new_topics: &'static str,
    /// Verbs that ask for something when they begin a message.
    pub(super) requests: &'static str,
    /// Endings that are pronouns.
    pub(super) endings: &'static str,
    /// Whether words are divided by blanks.
    pub(super) is_spaced: bool,
    /// Whether an apostrophe divides words.
    pub(super) divides_at_apostrophe: bool,
}

/// [`Rows`], taken apart.
pub(super) struct Lexicon {
    pub(super) stop: HashSet<&'static str>,
    pub(super) determiners: HashSet<&'static str>,
    pub(super) connectives: Vec<&'static str>,
    pub(super) pronouns: Vec<&'static str>,
    pub(super) empty_pronouns: Vec<&'static str>,
    pub(super) demonstratives: Vec<&'static str>,
    pub(super) references: Vec<&'static str>,
    pub(super) ellipses: Vec<&'static str>,
    pub(super) reworks: Vec<&'static str>,
    pub(super) responses: Vec<&'static str>,
    pub(super) new_topics: Vec<&'static str>,
    pub(super) requests: HashSet<&'static str>,
    pub(super) endings: Vec<&'static str>,
    pub(super) is_spaced: bool,
    pub(super) divides_at_apostrophe: bool,
}

fn parts<C: FromIterator<&'static str>>(row: &'static str) -> C {
    row.split('|').filter(|part| !part.is_empty()).collect()
}

impl From<&Rows> for Lexicon {
    fn from(rows: &Rows) -> Self {
        Self {
            stop: parts(rows.stop),
            determiners: parts(rows.determiners),
            connectives: parts(rows.connectives),
            pronouns: parts(rows.pronouns),
            empty_pronouns: parts(rows.empty_pronouns),
            demonstratives: parts(rows.demonstratives),
            references: parts(rows.references),
            ellipses: parts(rows.ellipses),
            reworks: parts(rows.reworks),
            responses: parts(rows.responses),
            new_topics: parts(rows.new_topics),
            requests: parts(rows.requests),
            endings: parts(rows.endings),
            is_spaced: rows.is_spaced,
            divides_at_apostrophe: rows.divides_at_apostrophe,
        }
    }
}

static ARABIC: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::from(&arabic::ARABIC));
static JAPANESE: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::from(&japanese::JAPANESE));
/// Languages of the Latin alphabet; of equals the last is taken.
static LATIN: LazyLock<[Lexicon; 4]> =
    LazyLock::new(|| [&french::FRENCH, &spanish::SPANISH, &german::GERMAN, &english::ENGLISH].map(Lexicon::from));

/// The language of a message, judged with the exchange before it, since a few words say little: by
/// script, else by which has most of its common words in the texts. Words of the message count threefold.
pub(super) fn lexicon_of(text: &str, exchange: [&str; 2]) -> &'static Lexicon {
    let all = || text.chars().chain(exchange.iter().flat_map(|part| part.chars()));
    if all().any(|c| matches!(c, '\u{3040}'..='\u{30ff}')) {
        return &JAPANESE;
    }
    if all().any(|c| matches!(c, '\u{620}'..='\u{64a}')) {
        return &ARABIC;
    }
    let said = |lexicon: &Lexicon, part: &str| {
        let words = Wording::new(part, lexicon).words;
        words.iter().filter(|word| lexicon.stop.contains(word.as_str())).count()
    };
    let score = |lexicon: &Lexicon| said(lexicon, text) * 3 + exchange.iter().map(|part| said(lexicon, part)).sum::<usize>();
    let [first, others @ ..] = &*LATIN;
    others
        .iter()
        .fold((first, score(first)), |best, lexicon| {
            let own = score(lexicon);
            if own >= best.1 { (lexicon, own) } else { best }
        })
        .0
}
