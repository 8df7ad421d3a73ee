//! The phrases behind the advice, English and German side by side, written as `crate::phrase` says.

use crate::phrase::Phrases;
use std::sync::LazyLock;

/// How a hostile passage is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A verb and whom it is done to.
    Deed,
    /// What the companion is to be like.
    State,
}

/// Two opposite demands.
pub(super) struct Pair {
    one: &'static [&'static str],
    other: &'static [&'static str],
    /// No contradiction where either sentence says when it holds ("at length when asked").
    pub(super) conditional: bool,
}

/// All compiled phrases.
pub(super) struct Rules {
    pub(super) second: Phrases<()>,
    pub(super) imperative: Phrases<()>,
    pub(super) stance: Phrases<()>,
    pub(super) hostile: Phrases<Shape>,
    /// Place of the pair, and whether it is the other side.
    pub(super) pairs: Phrases<(usize, bool)>,
    pub(super) negators: Phrases<()>,
    pub(super) affirmed: Phrases<()>,
}

pub(super) static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let plain = |rows: &'static [&'static str]| Phrases::new(rows.iter().map(|row| ((), *row)), NAMES);
    let hostile = DEEDS.iter().map(|row| (Shape::Deed, *row)).chain(STATES.iter().map(|row| (Shape::State, *row)));
    let sides = |(place, pair): (usize, &'static Pair)| {
        let one = pair.one.iter().map(move |row| ((place, false), *row));
        one.chain(pair.other.iter().map(move |row| ((place, true), *row)))
    };
    Rules {
        second: plain(SECOND),
        imperative: plain(IMPERATIVE),
        stance: plain(STANCE),
        hostile: Phrases::new(hostile, NAMES),
        pairs: Phrases::new(PAIRS.iter().enumerate().flat_map(sides), NAMES),
        negators: plain(NEGATORS),
        affirmed: plain(AFFIRMED),
    }
});

/// All lists, for the test that each phrase can be found.
#[cfg(test)]
pub(super) fn unreachable() -> Vec<(&'static str, Vec<usize>)> {
    vec![
        ("second", RULES.second.unreachable()),
        ("imperative", RULES.imperative.unreachable()),
        ("stance", RULES.stance.unreachable()),
        ("hostile", RULES.hostile.unreachable()),
        ("pairs", RULES.pairs.unreachable()),
        ("negators", RULES.negators.unreachable()),
        ("affirmed", RULES.affirmed.unreachable()),
    ]
}

const NAMES: &[(&str, &str)] = &[
    (
        "whom",
        "user|users|people|person|them|everyone|everybody|anyone|others|customer|customers|reader|readers|you|someone|opponents",
    ),
    (
        "wen",
        "nutzer|nutzers|nutzern|nutzerin|anwender|user|ihn|menschen|jeden|alle|andere|niemanden|leute|kunden|person|gesprächspartner|dich",
    ),
    ("mood", "mood|moods|emotion|emotions|feeling|feelings|energy|anger|tone|rage|stance|opinion|opinions|panic|despair|views"),
    ("stimmung", "stimmung|stimmungen|gefühl|gefühle|gefühlen|emotion|emotionen|laune|wut|ärger|haltung|meinung|ton|tonfall"),
];

const SECOND: &[&str] = &[
    "you|your|youre|youll|youve|yours|yourself",
    "du|dich|dir|deine|dein|deinen|deiner|deinem",
    "sie sind ein|eine",
    "ihr seid",
];

/// Orders, where they begin a sentence.
const IMPERATIVE: &[&str] = &[
    "be|act|pretend|behave|imagine|roleplay|respond|speak",
    "always|never be|answer|respond|speak|act|keep|stay|use|say",
    "sei|antworte|sprich|verhalte|handle|bleib|bleibe|stell",
];

const STANCE: &[&str] = &[
    "not|never|doesnt|wont|without|no|refuses ~3 take|takes|taking|adopt|adopts|adopting|mirror|mirrors|mirroring|absorb|absorbs|follow|follows|echo|echoes|share|copy|copies|match|matches|matching|swayed|infected|pulled|drawn|carried ~6 @mood",
    "own view|views|stance|opinion|opinions|judgement|judgment|values|standard|standards|position|principles|mind|perspective|ground|course|pace",
    "own professional standard|standards",
    "view|views|stance|opinion|opinions|judgement|judgment|values|standard|standards|principles|mind|course of her|his|its|their own",
    "hold|holds|stand|stands|keep|keeps ?her|his|its|their ground",
    "stay|stays|staying|remain|remains|remaining|keep|keeps|keeping|hold|holds ~2 calm|steady|even|neutral|composed|composure|objective|firm|courteous|level|balanced|unmoved|unshaken|consistent|grounded",
    "hold|holds|stand|stands|stick|sticks|keep|keeps ~2 to|by|firm ~1 principles|values|facts|ground|judgement|judgment|evidence|view",
    "disagree|disagrees|push|pushes|contradicts ~1 politely|kindly|openly|back|when|with|if",
    "regardless of ~3 @mood",
    "not ~2 users @mood",
    "whatever ~3 @mood",
    "nicht|nie|niemals|ohne|weder|kein|keine ~5 übernehmen|übernimmt|anstecken|mitreißen|mitreissen|spiegelt|spiegeln|teilt|folgt",
    "übernimmt|spiegelt|folgt|teilt|lässt ~6 nicht|nie|niemals",
    "eigene|eigenen|eigener ?klare ?feste haltung|meinung|urteil|ansicht|standpunkt|werte|werten|maßstab|sicht|position|grundsätze|grundsätzen",
    "eigenes urteil",
    "bleibt|bleibe|bleiben ~3 ruhig|gelassen|sachlich|ausgeglichen|neutral|besonnen|höflich|fest|objektiv|gefasst",
    "unabhängig ~4 @stimmung",
    "widerspricht ~1 höflich|freundlich|offen|wenn",
];

const NEGATORS: &[&str] = &[
    "never|not|no|dont|doesnt|wont|cannot|cant|isnt|arent|shouldnt|mustnt|nor|neither|without|nobody|none",
    "avoid*",
    "refrain*",
    "refus*",
    "declin*",
    "discourag*",
    "prevent*",
    "forbid*",
    "prohibit*",
    "resist*",
    "instead of",
    "rather than",
    "far from",
    "free of|from",
    "nie|niemals|nicht|kein|keine|keinen|keinem|keiner|ohne|weder|niemand|niemanden|niemandem|keinesfalls",
    "vermeide*",
    "vermeidet",
    "unterläs*",
    "statt|anstatt",
    "verzichte*",
    "verbiete*",
];

const AFFIRMED: &[&str] = &[
    "never|not|no|dont|doesnt|wont ~2 hesitat*|refus*|stop|stops|shy|shies|hold|holds|fear|fears|afraid|only|just|merely|declin*|avoid*|apologi*|tire|tires|limit|limits|mercy",
    "no mercy|limits|hesitation|restraint",
    "without hesitation|mercy|restraint|limits|hesitating|apology",
    "nicht|nie|niemals|keine|ohne ~1 nur|bloß|zögern|scheu|hemmungen|gnade|rücksicht|grenzen",
    "zögert|scheut|hört|schreckt ~2 nicht|nie|niemals",
];

const DEEDS: &[&str] = &[
    "insult|insults|mock|mocks|belittle|belittles|humiliate|humiliates|ridicule|ridicules|threaten|threatens|manipulate|manipulates|gaslight|gaslights|bully|bullies|intimidate|intimidates|harass|harasses|demean|demeans|degrade|degrades|shame|shames|blackmail|blackmails|abuse|abuses|punish|punishes|berate|berates|taunt|taunts|curse|curses|despise|despises|provoke|provokes|deceive|deceives ~1 @whom",
    "insulting|mocking|belittling|humiliating|threatening|manipulating|gaslighting|intimidating|shaming|berating|taunting|provoking the|its|every @whom",
    "guilt trip|trips ~1 @whom",
    "encourag*|promot*|glorif*|prais*|romantici*|suggest*|recommend*|celebrat* ~3 self harm|harming|injury|destruction",
    "encourag*|promot*|glorif*|prais*|romantici*|suggest*|recommend*|celebrat* ~3 suicide|suicidal|violence|revenge|hatred|selfharm|starvation",
    "tell|tells|urge|urges|push|pushes|encourage|encourages ~3 to kill|hurt|harm|starve|cut themselves|himself|herself|yourself|others|people",
    "escalat* ~2 conflict|conflicts|fight|fights|argument|arguments|drama|anger|tension|tensions|situation|insults|quarrel|quarrels|dispute|disputes",
    "answer|answers|respond|responds|react|reacts|reply|replies|fight|fights|retaliate|retaliates|strike|strikes ~2 with|in ~1 anger|rage|insult|insults|hostility|contempt|hatred|threats|threat|violence|cruelty|aggression|abuse|mockery|scorn|fury",
    "yell|yells|yelling|shout|shouts|scream|screams|snarl|swear|swears|curse|curses at ~1 @whom",
    "make|makes|making ~1 @whom ~1 feel ~1 bad|guilty|worthless|small|stupid|ashamed|afraid|inferior|miserable",
    "make|makes|keep|keeps ~1 @whom ~2 dependent|addicted|hooked|afraid|scared",
    "lie|lies to ~1 @whom",
    "take|takes|seek|seeks revenge",
    "beleidigt|beleidige|beschimpft|beschimpfe|verspottet|verspotte|demütigt|demuetigt|demütige|erniedrigt|bedroht|bedrohe|droht|manipuliert|manipuliere|schikaniert|verhöhnt|provoziert|beschämt|verachtet|belügt ~2 @wen",
    "nutzer|nutzern|nutzerin|anwender|user|menschen|leute|kunden ~3 beleidigen|beschimpfen|verspotten|demütigen|erniedrigen|bedrohen|manipulieren|drohen|schikanieren|provozieren|belügen",
    "antwortet|antworte|reagiert|reagiere|kontert ~2 mit|in ~1 beleidigungen|beleidigung|wut|zorn|hass|drohungen|verachtung|gewalt|spott|aggression|hohn|häme",
    "ermutigt|ermuntert|drängt|treibt|verleitet|rät|ermutige ~4 selbstverletzung|selbstmord|suizid|gewalt|rache|hass",
    "verherrlicht|lobt ~2 gewalt|selbstverletzung|suizid|selbstmord|rache|hass",
    "eskaliert|verschärft|schürt ~2 streit|konflikt|konflikte|situation|spannungen|hass",
    "schreit|brüllt|schrei ~2 @wen ~1 an",
    "macht ~2 @wen ~1 abhängig|angst|süchtig",
];

const STATES: &[&str] = &[
    "be|is|become|becomes|get|gets|grows|stays|being ~2 hostile|cruel|abusive|vicious|nasty|toxic|aggressive|insulting|hateful|sadistic|angrier|rude|contemptuous|threatening|merciless",
    "hostile|cruel|abusive|vicious|merciless|brutal|nasty|toxic|sadistic|hateful|contemptuous|rude ?and ~1 to|toward|towards ~1 @whom",
    "ist|sei|wird|bleibt ~2 grausam|feindselig|gemein|aggressiv|verletzend|beleidigend|toxisch|gehässig|hasserfüllt|gnadenlos",
];

/// Pairs of opposite demands that people write, as seen in prompts: length, refusing, mood,
/// agreement, sides, questions, register, truth, emojis.
pub(super) const PAIRS: &[Pair] = &[
    Pair {
        one: &[
            "always|must|only|strictly ~3 brief|briefly|short|concise|concisely|terse|tersely",
            "keep|keeps ~3 brief|short|concise",
            "in|most|exactly|than one|two|three|a ?single ?short sentence|sentences|word|words",
            "as short|brief as possible",
            "immer|stets ~3 kurz|knapp",
            "hält|halte|fasst ~3 kurz",
            "in einem|zwei|drei satz|sätzen|worten",
            "so kurz|knapp wie möglich",
        ],
        other: &[
            "at great|full|considerable length",
            "long|lengthy|extensive|exhaustive|elaborate answers|answer|replies|responses|explanations|essays",
            "very detailed|long answers|replies|responses|explanations",
            "in great|exhaustive|full|painstaking detail",
            "as long|detailed|thorough|much detail as possible",
            "exhaustively",
            "ausführlich*",
            "ausfuehrlich*",
            "lange|langen antworten|erklärungen|texte|texten",
            "in allen einzelheiten",
            "so lang wie möglich",
        ],
        conditional: true,
    },
    Pair {
        one: &[
            "never|not|doesnt|dont|cannot|wont ?ever refuse*",
            "never|not|doesnt|dont|cannot|wont ?ever decline*",
            "never|not ~1 says|say no",
            "obey|obeys|fulfil|fulfils|fulfill|fulfills|follow|follows|grants every|any|all ?the request|requests|instruction|instructions|order|orders|command|commands|wish",
            "lehnt|lehne nie|niemals ~3 ab",
            "lehnt|lehne keine|keinen ~2 ab",
            "erfüllt|befolgt jeden|jede|alle",
        ],
        other: &[
            "refuse|refuses ~1 to|any|all|harmful|requests|every",
            "decline|declines ~1 to|any|all|harmful|requests",
            "lehnt|lehne ~5 ab",
            "verweigert|verweigere",
        ],
        conditional: false,
    },
    Pair {
        one: &[
            "calm|calmly|steady|composed|unshaken|serene|unmoved|neutral|objective",
            "ruhig|ruhige|gelassen|gelassene|sachlich|ausgeglichen|besonnen",
        ],
        other: &[
            "match|matches|matching|mirror|mirrors|mirroring|adopt|adopts|copy|copies|reflect|reflects|share|shares|absorb|absorbs ~3 @mood",
            "takes|take on|over ~3 @mood",
            "gets|get|becomes|become|grows|is angry|furious|upset|excited|emotional ~1 with|when ~1 user|users|they",
            "übernimmt|spiegelt|teilt ~3 @stimmung",
            "passt ~4 @stimmung ~1 an",
            "wird|ist wütend|aufgeregt|laut wenn|mit",
        ],
        conditional: false,
    },
    Pair {
        one: &[
            "always|must ~1 agree|agrees",
            "never ~1 disagree*",
            "never ~1 contradict*",
            "agree|agrees with everything|anything|all",
            "stimmt|stimme ~2 immer|stets ~2 zu",
            "widerspricht|widersprich nie|niemals",
        ],
        other: &[
            "disagree|disagrees",
            "contradict|contradicts",
            "push|pushes back",
            "honest|blunt|candid|frank criticism|critique|feedback",
            "challenge|challenges ~2 user|users|assumptions|claims",
            "widerspricht|kritisiert",
            "ehrliche|ehrlicher|offene kritik|rückmeldung",
        ],
        conditional: false,
    },
    Pair {
        one: &["neutral|impartial|unbiased|objective|unparteiisch|objektiv"],
        other: &[
            "always ~3 users|user side",
            "take|takes|taking ?always the users|user|their side",
            "immer|stets ~2 auf ~1 seite ~2 nutzers",
            "ergreift|nimmt ~2 partei ~3 nutzer|nutzers",
        ],
        conditional: false,
    },
    Pair {
        one: &[
            "never|not|doesnt|dont ?ever ask|asks ~2 question|questions|anything|back",
            "asks no questions",
            "stellt|fragt nie|keine|niemals ~1 fragen|nach|zurück",
        ],
        other: &[
            "always|regularly|must|every ~4 ask|asks|question|questions",
            "ask|asks ~2 many|lots|questions ~2 questions|every|each",
            "stellt|fragt immer|stets|viele ~2 fragen|nach|frage|zurück",
        ],
        conditional: true,
    },
    Pair {
        one: &["formal|formally|businesslike|förmlich|förmlichen|formell|formellen"],
        other: &["slang|casual|casually|informal|informally|salopp|umgangssprache|umgangssprachlich|flapsig|jugendsprache"],
        conditional: true,
    },
    Pair {
        one: &[
            "always|strictly|completely ~1 honest|truthful",
            "always|must ~1 tell|tells the truth",
            "never ~1 lie|lies|deceives|deceive|invent|invents",
            "immer|stets ~1 ehrlich|die ?wahrheit",
            "lügt|erfindet nie|niemals|nichts|keine",
        ],
        other: &[
            "tell|tells|say|says ~3 what ~3 want|wants|like|likes to hear",
            "white lies",
            "invent|invents|make|makes ~1 facts|sources|figures|quotes|up",
            "sagt|sage ~3 was ~3 hören will|möchte|wollen",
            "erfindet ~1 fakten|quellen|zahlen|ausreden",
        ],
        conditional: true,
    },
    Pair {
        one: &["never|no|without|avoid|avoids|not ~2 emoji|emojis", "keine|ohne|nie ~1 emojis|emoji|smileys"],
        other: &[
            "use|uses|add|adds|many|lots|plenty|with ~3 emoji|emojis",
            "verwendet|nutzt|benutzt|mit|viele|verwende ~2 emojis|emoji|smileys",
        ],
        conditional: true,
    },
];
