//! Words near a number that say what it is.

use super::character::{is_unspaced, reach_back, reach_on};

/// What the words before a number speak of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cue {
    Phone,
    Other,
    Nothing,
}

/// How far before a number its name is looked for, in bytes and in words.
const REACH: usize = 72;
const WORDS: usize = 7;

/// Words for phones and calling, by their beginnings.
const PHONE: &str = "phone|telephone|tel|call|dial|ring|mobile|cell|cellphone|fax|whatsapp|hotline|helpline|sms|signal|landline|number|\
     telefon|handy|mobil|anruf|ruf|rufnummer|fon|durchwahl|festnetz|erreich|telefoon|bel|gsm|mobiel|téléphone|appel|portable|\
     joindre|numéro|teléfono|llam|llám|móvil|celular|marca|número|telefone|telemóvel|ligue|liga|telefono|chiam|cellulare|\
     numero|zadzwoń|dzwoń|komórk|numer|телефон|тел|звон|позвон|мобильн|номер|numara|هاتف|اتصل|جوال|موبايل|تلفون|فون|फ़ोन|फोन|\
     मोबाइल|नंबर";
/// The same in scripts without blanks.
const PHONE_UNSPACED: &[&str] = &["電話", "携帯", "电话", "手机", "拨打", "致电", "ファックス", "전화", "휴대폰", "โทร"];

/// Words for what else has numbers, by their beginnings.
const OTHER: &str = "order|invoice|isbn|issn|ean|ticket|track|serial|article|item|sku|ref|case|id|customer|account|patient|version|build|\
     commit|ip|imei|vin|iban|bic|zip|postcode|page|unix|timestamp|barcode|parcel|receipt|file|bytes|patent|member|policy|\
     contract|reservation|booking|bestell|auftrag|rechnung|kunden|sendung|aktenzeichen|artikel|serien|konto|blz|steuer|\
     vertrag|mitglied|postleitzahl|plz|seite|paket|matrikel|commande|facture|compte|suivi|référence|dossier|pedido|factura|\
     cuenta|referencia|envío|encomenda|fatura|ordine|fattura|conto|pratica|dni|nif|zamówieni|faktur|konta|przesyłk|заказ|\
     счёт|счет|посылк|sipariş|طلب|فاتورة";
const OTHER_UNSPACED: &[&str] = &["注文", "郵便", "口座", "订单", "订單", "账号", "快递", "单号", "請求", "주문", "계좌"];

/// Beginnings that short words share with many others count as whole words only.
const WHOLE: usize = 4;

/// What the nearest word before a place that says anything speaks of.
pub(super) fn cue(text: &str, at: usize) -> Cue {
    let said = reach_back(text, at, REACH).rsplit('\n').next().unwrap_or_default().to_lowercase();
    for word in said
        .split(|c: char| !c.is_alphanumeric() && !super::character::is_mark(c))
        .rev()
        .filter(|word| !word.is_empty())
        .take(WORDS)
    {
        if word.chars().any(is_unspaced) {
            match unspaced(word) {
                Cue::Nothing => continue,
                found => return found,
            }
        }
        if is_one_of(word, OTHER) {
            return Cue::Other;
        }
        // "Order number 555…", "numéro de commande": a number alone is whatever the word before it says.
        if is_one_of(word, PHONE) && !is_number_word(word) {
            return Cue::Phone;
        }
    }
    if said.split(|c: char| !c.is_alphanumeric()).any(is_number_word) { Cue::Phone } else { Cue::Nothing }
}

fn is_number_word(word: &str) -> bool {
    matches!(word, "number" | "numéro" | "número" | "numero" | "numer" | "номер" | "numara" | "नंबर")
}

/// Whether the words right behind a number say that it is called: "に電話してください", "anrufen".
pub(super) fn is_named_after(text: &str, at: usize) -> bool {
    let said = reach_on(text, at, 36).lines().next().unwrap_or_default().to_lowercase();
    PHONE_UNSPACED.iter().any(|word| said.contains(word))
        || said.split(|c: char| !c.is_alphanumeric()).any(|word| ["anrufen", "erreichbar", "arayın", "ara"].contains(&word))
}

/// What a word without blanks speaks of: the name that stands last in it counts.
fn unspaced(word: &str) -> Cue {
    let last = |list: &[&str]| list.iter().filter_map(|name| word.rfind(name)).max();
    match (last(PHONE_UNSPACED), last(OTHER_UNSPACED)) {
        (None, None) => Cue::Nothing,
        (phone, other) if phone > other => Cue::Phone,
        _ => Cue::Other,
    }
}

fn is_one_of(word: &str, list: &str) -> bool {
    // Arabic writes "the" as a part of the word.
    let bare = word.strip_prefix("ال").unwrap_or(word);
    list.split('|').any(|name| word == name || bare == name || (name.chars().count() >= WHOLE && bare.starts_with(name)))
}
