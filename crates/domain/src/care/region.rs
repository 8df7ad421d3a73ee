//! The region a machine stands in, from its locale or its time zone.

/// The region as an ISO 3166 code: from a locale such as `de-AT`, `pt_BR.UTF-8` or
/// `zh-Hant-TW`, else from an IANA zone such as `Europe/Vienna`, else empty.
#[must_use]
pub fn region_of(locale: &str, zone: &str) -> String {
    region_of_locale(locale).or_else(|| region_of_zone(zone).map(str::to_owned)).unwrap_or_default()
}

fn region_of_locale(locale: &str) -> Option<String> {
    let plain = locale.split(['.', '@']).next()?;
    let mut parts = plain.split(['-', '_']);
    // A language has two or three letters; anything else is no locale ("C", "x-private").
    parts.next().filter(|language| matches!(language.len(), 2 | 3) && is_letters(language))?;
    // What follows a part of one letter is an extension and names no region.
    parts.take_while(|part| part.len() > 1).find(|part| part.len() == 2 && is_letters(part)).map(str::to_ascii_uppercase)
}

fn is_letters(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Regions with more than one zone are matched by the zone's first part or by its list.
fn region_of_zone(zone: &str) -> Option<&'static str> {
    if zone.starts_with("Australia/") {
        return Some("AU");
    }
    if zone.starts_with("US/") || zone.starts_with("America/Indiana/") || zone.starts_with("America/Kentucky/") {
        return Some("US");
    }
    if zone.starts_with("Canada/") {
        return Some("CA");
    }
    if zone.starts_with("Brazil/") {
        return Some("BR");
    }
    ZONES.iter().find(|(_, zones)| zones.contains(&zone)).map(|(region, _)| *region)
}

const ZONES: &[(&str, &[&str])] = &[
    (
        "US",
        &[
            "America/New_York",
            "America/Detroit",
            "America/Chicago",
            "America/Denver",
            "America/Boise",
            "America/Phoenix",
            "America/Los_Angeles",
            "America/Anchorage",
            "America/Juneau",
            "Pacific/Honolulu",
        ],
    ),
    (
        "CA",
        &[
            "America/St_Johns",
            "America/Halifax",
            "America/Moncton",
            "America/Montreal",
            "America/Toronto",
            "America/Winnipeg",
            "America/Regina",
            "America/Edmonton",
            "America/Whitehorse",
            "America/Vancouver",
        ],
    ),
    (
        "MX",
        &[
            "America/Mexico_City",
            "America/Cancun",
            "America/Merida",
            "America/Monterrey",
            "America/Chihuahua",
            "America/Hermosillo",
            "America/Tijuana",
        ],
    ),
    (
        "BR",
        &[
            "America/Sao_Paulo",
            "America/Bahia",
            "America/Fortaleza",
            "America/Recife",
            "America/Belem",
            "America/Manaus",
            "America/Cuiaba",
        ],
    ),
    ("GB", &["Europe/London", "Europe/Belfast", "GB"]),
    ("IE", &["Europe/Dublin", "Eire"]),
    ("NZ", &["Pacific/Auckland", "Pacific/Chatham", "NZ"]),
    ("DE", &["Europe/Berlin", "Europe/Busingen"]),
    ("AT", &["Europe/Vienna"]),
    ("CH", &["Europe/Zurich"]),
    ("FR", &["Europe/Paris"]),
    ("ES", &["Europe/Madrid", "Atlantic/Canary", "Africa/Ceuta"]),
    ("IT", &["Europe/Rome"]),
    ("NL", &["Europe/Amsterdam"]),
    ("BE", &["Europe/Brussels"]),
    ("SE", &["Europe/Stockholm"]),
    ("NO", &["Europe/Oslo"]),
    ("DK", &["Europe/Copenhagen"]),
    ("FI", &["Europe/Helsinki", "Europe/Mariehamn"]),
    ("PL", &["Europe/Warsaw", "Poland"]),
    ("PT", &["Europe/Lisbon", "Atlantic/Madeira", "Atlantic/Azores", "Portugal"]),
    ("IN", &["Asia/Kolkata", "Asia/Calcutta"]),
    ("JP", &["Asia/Tokyo", "Japan"]),
    ("KR", &["Asia/Seoul", "ROK"]),
];
