//! One set of phrases a language, written as `crate::phrase` says.

use super::{asian, english, french, german, romance, slavic};

/// The phrases of one language.
pub(super) struct Language {
    /// Signs of self-harm.
    pub(super) self_harm: &'static [&'static str],
    /// Signs of danger.
    pub(super) danger: &'static [&'static str],
    /// Figures of speech, taken out before signs are looked for.
    pub(super) idioms: &'static [&'static str],
}

pub(super) const ALL: &[&Language] = &[
    &english::ENGLISH,
    &german::GERMAN,
    &german::DUTCH,
    &french::FRENCH,
    &romance::SPANISH,
    &romance::ITALIAN,
    &romance::PORTUGUESE,
    &slavic::POLISH,
    &slavic::RUSSIAN,
    &asian::ARABIC,
    &asian::JAPANESE,
    &asian::CHINESE,
];

/// Lists that several phrases share.
pub(super) const NAMES: &[(&str, &str)] = &[
    (
        "kin",
        "husband|wife|boyfriend|girlfriend|partner|ex|dad|daddy|father|mom|mum|mother|parents|stepdad|stepfather|stepmother|\
         stepmom|uncle|aunt|brother|sister|grandfather|cousin|son|daughter|boss|teacher|coach|neighbour|neighbor|roommate|landlord",
    ),
    ("near", "husband|wife|boyfriend|girlfriend|partner|ex|dad|father|stepdad|stepfather|stepmother|uncle|brother|son"),
    ("loved", "dog|cat|grandma|grandmother|grandpa|grandfather"),
    (
        "kind_de",
        "mann|frau|freund|freundin|vater|papa|mutter|mama|eltern|stiefvater|onkel|bruder|schwester|ex|partner|partnerin|chef|lehrer|nachbar",
    ),
    ("fam_fr", "mari|femme|copain|copine|conjoint|compagnon|pere|mere|papa|maman|beau|frere|oncle|ex|fils|patron|voisin"),
    ("fam_es", "marido|mujer|esposo|esposa|novio|novia|pareja|padre|papa|madre|mama|padrastro|hermano|tio|ex|hijo|jefe|vecino"),
];
