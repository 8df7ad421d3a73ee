//! Polish and Russian.

use super::rules::Language;

pub(super) const POLISH: Language = Language { self_harm: POLISH_SELF_HARM, danger: POLISH_DANGER, idioms: POLISH_IDIOMS };
pub(super) const RUSSIAN: Language = Language { self_harm: RUSSIAN_SELF_HARM, danger: RUSSIAN_DANGER, idioms: RUSSIAN_IDIOMS };

const POLISH_SELF_HARM: &[&str] = &[
    "samobój*",
    "się zabić|powiesić|zabiję|powieszę|utopić|ciąć|tnę|potnę|okaleczam",
    "zabić|zabiję|powiesić|okaleczam|potnę się",
    "chcę|chciałbym|chciałabym|wolałbym|wolałabym ~1 umrzeć|zniknąć|zdechnąć",
    "nie ~1 chcę|chce|mogę|mam ~3 żyć|istnieć|życia|obudzić",
    "chce mi się żyć",
    "odebrać sobie życie",
    "skończyć ze sobą|życiem|moim",
    "życie nie|straciło ma ?sensu|sens",
    "wolałbym|wolałabym|lepiej ~2 nie ?się żyć|urodzić|martwy|martwa",
    "lepiej ~2 beze mnie",
    "wziąłem|wzięłam|połknąłem|połknęłam ~3 tabletek|tabletki|leki",
    "skoczyć ~2 mostu|dachu|okna|pociąg",
];

const POLISH_DANGER: &[&str] = &[
    "mnie|nas ~1 bije|pobił|bił|zgwałcił|dusi|dusił|molestuje|molestował|kopie|katuje",
    "bije|pobił|zgwałcił|dusi|dusił|molestuje|molestował|katuje mnie|nas",
    "boję się ~2 męża|ojca|chłopaka|ojczyma|partnera|zabije|że ?mnie ?zabije",
    "zabiję go|ją|ich|cię",
    "chce|chcę|grozi ~3 mnie|go|ją|ich|mi zabić|zabije|zabić",
    "zawał|udar",
    "nie|mogę oddycha|oddychać",
    "nieprzytomn*",
    "pogotowie|karetkę|karetka",
    "ból ~2 klatce",
];

const POLISH_IDIOMS: &[&str] = &[
    "umrzeć|umieram|umrę ~1 ze|z ?ze śmiechu|nudów|głodu|wstydu|gorąca|zimna|ciekawości",
    "ze śmiechu ~2 umrzeć|zawał|zawału",
    "mało|prawie|niemal|o ~4 zawał|zawału",
    "zabić czas|nudę|proces",
    "samobójcza|samobójczy bramka|gol|strzał",
];

const RUSSIAN_SELF_HARM: &[&str] = &[
    "суицид*",
    "самоубий*",
    "самоубийств*",
    "хочу|хотел|хотела|лучше|хочется ~2 умереть|сдохнуть|исчезнуть|повеситься|умерла|сдох|умер",
    "покончить с|жизнь собой|жизнью|самоубийством|этим",
    "убить|убью|зарезать|порезать себя",
    "режу|порезал|порезала|повешусь|повеситься|вены себя|вены|завтра|сегодня|резать|хочу",
    "порезать|вскрыть|вскрою|перерезать ~1 вены",
    "не|незачем ~1 хочу|хочется|могу|зачем|вижу|жить ~2 жить|смысла|больше",
    "нет|потерял|потеряла смысла|смысл жить|жизни|дальше",
    "спрыгнуть ~2 крыши|моста|окна",
    "наглотал* таблеток",
    "устал|устала жить",
    "без меня ~2 лучше",
];

const RUSSIAN_DANGER: &[&str] = &[
    "меня|нас ~2 бьет|бил|избил|избивает|избили|изнасиловал|изнасиловали|насилует|душит|душил|домогается",
    "бьет|бил|избил|избивает|изнасиловал|насилует|душит|душил|угрожает меня|нас|мне|нам",
    "боюсь ~1 мужа|отца|отчима|парня|бывшего|убьет",
    "убью его|ее|их|тебя|всех",
    "хочу|хочет|грозится|угрожает ~2 убить|зарезать|застрелить ?его|ее|меня|нас|их",
    "инфаркт|инсульт",
    "не ~1 дышит|дышать",
    "без сознания",
    "скорую|скорая",
    "боль|болит ~2 груди|грудь|грудной",
];

const RUSSIAN_IDIOMS: &[&str] = &[
    "умереть|умираю|умер|умерла|умру|сдохнуть от|со|с ?смеху|смеха|скуки|голода|стыда|жары|любопытства",
    "со смеху ~2 умереть",
    "чуть|почти ~4 инфаркт|инсульт",
    "убить|убивать|хочу ?убить время|процесс",
    "скорая|скорую встреча|встречу|руку",
];
