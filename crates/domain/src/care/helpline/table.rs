//! The helplines themselves, each with the organisation that publishes the number.

use super::HelplineKind::{Crisis, Directory, Emergency, Violence, Young};
use super::{ALWAYS, Helpline, both, call, of, text, web};

/// The list of each region; the first entry names the region.
pub(in crate::care) const ALL: &[&[Helpline]] = &[
    &WORLDWIDE, &US, &CA, &GB, &IE, &AU, &NZ, &DE, &AT, &CH, &FR, &ES, &IT, &NL, &BE, &SE, &NO, &DK, &FI, &PL, &PT, &BR, &MX,
    &IN, &JP, &KR,
];

pub(super) const WORLDWIDE: [Helpline; 4] = of(
    "",
    [
        // European Union, and the GSM standard, by which mobile telephones anywhere connect 112.
        (Emergency, "112", call("112"), "", ALWAYS),
        // Canada, the United States, Mexico and others of the Americas.
        (Emergency, "911", call("911"), "", ALWAYS),
        // ThroughLine, which keeps a verified directory.
        (Directory, "Find A Helpline", web("https://findahelpline.com"), "", ALWAYS),
        // Befrienders Worldwide, the network of emotional support centres.
        (Directory, "Befrienders Worldwide", web("https://www.befrienders.org"), "", ALWAYS),
    ],
);

const US: [Helpline; 4] = of(
    "US",
    [
        // National emergency number.
        (Emergency, "911", call("911"), "en", ALWAYS),
        // SAMHSA; run by Vibrant Emotional Health.
        (Crisis, "988 Suicide & Crisis Lifeline", both("988"), "en es", ALWAYS),
        // Crisis Text Line.
        (Crisis, "Crisis Text Line", text("741741", "HOME"), "en es", ALWAYS),
        // National Domestic Violence Hotline.
        (Violence, "National Domestic Violence Hotline", call("1-800-799-7233"), "en es", ALWAYS),
    ],
);

const CA: [Helpline; 3] = of(
    "CA",
    [
        // National emergency number.
        (Emergency, "911", call("911"), "en fr", ALWAYS),
        // Public Health Agency of Canada; led by CAMH.
        (Crisis, "9-8-8 Suicide Crisis Helpline", both("988"), "en fr", ALWAYS),
        // Kids Help Phone.
        (Young, "Kids Help Phone", call("1-800-668-6868"), "en fr", ALWAYS),
    ],
);

const GB: [Helpline; 5] = of(
    "GB",
    [
        // National emergency number.
        (Emergency, "999", call("999"), "en", ALWAYS),
        // Samaritans.
        (Crisis, "Samaritans", call("116 123"), "en", ALWAYS),
        // Mental Health Innovations.
        (Crisis, "Shout", text("85258", "SHOUT"), "en", ALWAYS),
        // Refuge.
        (Violence, "National Domestic Abuse Helpline", call("0808 2000 247"), "en", ALWAYS),
        // NSPCC.
        (Young, "Childline", call("0800 1111"), "en", ALWAYS),
    ],
);

const IE: [Helpline; 4] = of(
    "IE",
    [
        // National emergency numbers 112 and 999.
        (Emergency, "112 / 999", call("112"), "en", ALWAYS),
        // Samaritans Ireland.
        (Crisis, "Samaritans", call("116 123"), "en", ALWAYS),
        // Health Service Executive.
        (Crisis, "Text About It", text("50808", "HELLO"), "en", ALWAYS),
        // Women's Aid.
        (Violence, "Women's Aid", call("1800 341 900"), "en", ALWAYS),
    ],
);

const AU: [Helpline; 5] = of(
    "AU",
    [
        // National emergency number.
        (Emergency, "000", call("000"), "en", ALWAYS),
        // Lifeline Australia.
        (Crisis, "Lifeline", call("13 11 14"), "en", ALWAYS),
        // Suicide Call Back Service.
        (Crisis, "Suicide Call Back Service", call("1300 659 467"), "en", ALWAYS),
        // 1800RESPECT, Australian Government.
        (Violence, "1800RESPECT", call("1800 737 732"), "en", ALWAYS),
        // yourtown.
        (Young, "Kids Helpline", call("1800 55 1800"), "en", ALWAYS),
    ],
);

const NZ: [Helpline; 3] = of(
    "NZ",
    [
        // National emergency number.
        (Emergency, "111", call("111"), "en", ALWAYS),
        // Whakarongorau Aotearoa.
        (Crisis, "1737 Need to talk?", both("1737"), "en", ALWAYS),
        // Lifeline Aotearoa.
        (Crisis, "Lifeline", call("0800 543 354"), "en", ALWAYS),
    ],
);

const DE: [Helpline; 6] = of(
    "DE",
    [
        // National emergency number.
        (Emergency, "112", call("112"), "de", ALWAYS),
        // TelefonSeelsorge Deutschland, its three numbers.
        (Crisis, "TelefonSeelsorge", call("0800 1110111"), "de", ALWAYS),
        (Crisis, "TelefonSeelsorge", call("0800 1110222"), "de", ALWAYS),
        (Crisis, "TelefonSeelsorge", call("116 123"), "de", ALWAYS),
        // Bundesamt für Familie und zivilgesellschaftliche Aufgaben.
        (Violence, "Hilfetelefon Gewalt gegen Frauen", call("116 016"), "de", ALWAYS),
        // Nummer gegen Kummer e.V.
        (Young, "Nummer gegen Kummer", call("116 111"), "de", ""),
    ],
);

const AT: [Helpline; 4] = of(
    "AT",
    [
        // European emergency number; 144 calls the ambulance.
        (Emergency, "112", call("112"), "de", ALWAYS),
        // TelefonSeelsorge Österreich.
        (Crisis, "TelefonSeelsorge", call("142"), "de", ALWAYS),
        // Verein AÖF.
        (Violence, "Frauenhelpline gegen Gewalt", call("0800 222 555"), "de", ALWAYS),
        // ORF, Rat auf Draht.
        (Young, "Rat auf Draht", call("147"), "de", ALWAYS),
    ],
);

const CH: [Helpline; 3] = of(
    "CH",
    [
        // European emergency number; 144 calls the ambulance.
        (Emergency, "112", call("112"), "de fr it", ALWAYS),
        // Die Dargebotene Hand / La Main Tendue / Telefono Amico.
        (Crisis, "Die Dargebotene Hand", call("143"), "de fr it", ALWAYS),
        // Pro Juventute.
        (Young, "Pro Juventute", call("147"), "de fr it", ALWAYS),
    ],
);

const FR: [Helpline; 4] = of(
    "FR",
    [
        // European emergency number; 15 calls the SAMU.
        (Emergency, "112", call("112"), "fr", ALWAYS),
        // Ministère de la Santé.
        (Crisis, "3114 Numéro national de prévention du suicide", call("3114"), "fr", ALWAYS),
        // Fédération nationale solidarité femmes.
        (Violence, "3919 Violences Femmes Info", call("3919"), "fr", ALWAYS),
        // Service national d'accueil téléphonique de l'enfance en danger.
        (Young, "119 Allô Enfance en Danger", call("119"), "fr", ALWAYS),
    ],
);

const ES: [Helpline; 3] = of(
    "ES",
    [
        // European emergency number.
        (Emergency, "112", call("112"), "es", ALWAYS),
        // Ministerio de Sanidad.
        (Crisis, "024 Línea de atención a la conducta suicida", call("024"), "es", ALWAYS),
        // Ministerio de Igualdad.
        (Violence, "016 Violencia contra las mujeres", call("016"), "es", ALWAYS),
    ],
);

const IT: [Helpline; 3] = of(
    "IT",
    [
        // European emergency number.
        (Emergency, "112", call("112"), "it", ALWAYS),
        // Telefono Amico Italia.
        (Crisis, "Telefono Amico Italia", call("02 2327 2327"), "it", ""),
        // Dipartimento per le Pari Opportunità.
        (Violence, "1522 Antiviolenza e Antistalking", call("1522"), "it", ALWAYS),
    ],
);

const NL: [Helpline; 4] = of(
    "NL",
    [
        // European emergency number.
        (Emergency, "112", call("112"), "nl", ALWAYS),
        // Stichting 113 Zelfmoordpreventie, its two numbers.
        (Crisis, "113 Zelfmoordpreventie", call("113"), "nl", ALWAYS),
        (Crisis, "113 Zelfmoordpreventie", call("0800-0113"), "nl", ALWAYS),
        // Veilig Thuis.
        (Violence, "Veilig Thuis", call("0800-2000"), "nl", ALWAYS),
    ],
);

const BE: [Helpline; 4] = of(
    "BE",
    [
        // European emergency number.
        (Emergency, "112", call("112"), "nl fr de", ALWAYS),
        // Centrum ter Preventie van Zelfdoding.
        (Crisis, "Zelfmoordlijn", call("1813"), "nl", ALWAYS),
        // Centre de Prévention du Suicide.
        (Crisis, "Centre de Prévention du Suicide", call("0800 32 123"), "fr", ALWAYS),
        // Télé-Accueil.
        (Crisis, "Télé-Accueil", call("107"), "fr", ALWAYS),
    ],
);

const SE: [Helpline; 3] = of(
    "SE",
    [
        // European emergency number.
        (Emergency, "112", call("112"), "sv", ALWAYS),
        // Mind.
        (Crisis, "Självmordslinjen", call("90101"), "sv", ""),
        // Uppsala universitet, Nationellt centrum för kvinnofrid.
        (Violence, "Kvinnofridslinjen", call("020-50 50 50"), "sv", ALWAYS),
    ],
);

const NO: [Helpline; 3] = of(
    "NO",
    [
        // European emergency number; 113 calls the ambulance.
        (Emergency, "112", call("112"), "no", ALWAYS),
        // Mental Helse.
        (Crisis, "Mental Helse", call("116 123"), "no", ALWAYS),
        // Kirkens SOS.
        (Crisis, "Kirkens SOS", call("22 40 00 40"), "no", ALWAYS),
    ],
);

const DK: [Helpline; 3] = of(
    "DK",
    [
        // European emergency number.
        (Emergency, "112", call("112"), "da", ALWAYS),
        // Livslinien.
        (Crisis, "Livslinien", call("70 201 201"), "da", ""),
        // Lev Uden Vold.
        (Violence, "Lev Uden Vold", call("1888"), "da", ALWAYS),
    ],
);

const FI: [Helpline; 3] = of(
    "FI",
    [
        // European emergency number.
        (Emergency, "112", call("112"), "fi sv", ALWAYS),
        // MIELI Mental Health Finland.
        (Crisis, "MIELI Kriisipuhelin", call("09 2525 0111"), "fi", ALWAYS),
        // HUS Helsinki University Hospital.
        (Violence, "Nollalinja", call("080 005 005"), "fi sv en", ALWAYS),
    ],
);

const PL: [Helpline; 4] = of(
    "PL",
    [
        // European emergency number.
        (Emergency, "112", call("112"), "pl", ALWAYS),
        // Centrum Wsparcia dla Osób Dorosłych w Kryzysie Psychicznym.
        (Crisis, "Centrum Wsparcia", call("800 70 2222"), "pl", ALWAYS),
        // Kryzysowy Telefon Zaufania.
        (Crisis, "Telefon Zaufania dla Dorosłych", call("116 123"), "pl", ""),
        // Fundacja Dajemy Dzieciom Siłę.
        (Young, "Telefon Zaufania dla Dzieci i Młodzieży", call("116 111"), "pl", ALWAYS),
    ],
);

const PT: [Helpline; 3] = of(
    "PT",
    [
        // European emergency number.
        (Emergency, "112", call("112"), "pt", ALWAYS),
        // Serviço Nacional de Saúde; has a psychological support line.
        (Crisis, "SNS 24", call("808 24 24 24"), "pt", ALWAYS),
        // SOS Voz Amiga.
        (Crisis, "SOS Voz Amiga", call("213 544 545"), "pt", ""),
    ],
);

const BR: [Helpline; 4] = of(
    "BR",
    [
        // SAMU, the ambulance.
        (Emergency, "SAMU 192", call("192"), "pt", ALWAYS),
        // Polícia Militar.
        (Emergency, "Polícia 190", call("190"), "pt", ALWAYS),
        // Centro de Valorização da Vida.
        (Crisis, "CVV", call("188"), "pt", ALWAYS),
        // Ministério das Mulheres.
        (Violence, "Central de Atendimento à Mulher", call("180"), "pt", ALWAYS),
    ],
);

const MX: [Helpline; 3] = of(
    "MX",
    [
        // National emergency number.
        (Emergency, "911", call("911"), "es", ALWAYS),
        // Comisión Nacional de Salud Mental y Adicciones.
        (Crisis, "Línea de la Vida", call("800 911 2000"), "es", ALWAYS),
        // SAPTEL, Cruz Roja Mexicana.
        (Crisis, "SAPTEL", call("55 5259 8121"), "es", ALWAYS),
    ],
);

const IN: [Helpline; 3] = of(
    "IN",
    [
        // National emergency number.
        (Emergency, "112", call("112"), "hi en", ALWAYS),
        // Ministry of Health and Family Welfare.
        (Crisis, "Tele-MANAS", call("14416"), "hi en", ALWAYS),
        // Ministry of Women and Child Development.
        (Violence, "Women Helpline", call("181"), "hi en", ALWAYS),
    ],
);

const JP: [Helpline; 4] = of(
    "JP",
    [
        // Fire and Disaster Management Agency: ambulance.
        (Emergency, "119", call("119"), "ja", ALWAYS),
        // National Police Agency.
        (Emergency, "110", call("110"), "ja", ALWAYS),
        // Social Inclusion Support Center.
        (Crisis, "よりそいホットライン", call("0120-279-338"), "ja", ALWAYS),
        // Federation of Inochi No Denwa.
        (Crisis, "いのちの電話", call("0120-783-556"), "ja", ""),
    ],
);

const KR: [Helpline; 5] = of(
    "KR",
    [
        // National Fire Agency: ambulance.
        (Emergency, "119", call("119"), "ko", ALWAYS),
        // National Police Agency.
        (Emergency, "112", call("112"), "ko", ALWAYS),
        // Ministry of Health and Welfare.
        (Crisis, "자살예방 상담전화", call("109"), "ko", ALWAYS),
        // Ministry of Health and Welfare, mental health crisis line.
        (Crisis, "정신건강 위기상담전화", call("1577-0199"), "ko", ALWAYS),
        // Ministry of Gender Equality and Family.
        (Violence, "여성긴급전화", call("1366"), "ko", ALWAYS),
    ],
);
