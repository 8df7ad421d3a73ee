//! Words that say nothing of what is meant: the most frequent ones of seven languages, and those with
//! which people ask to be reminded.

use std::collections::HashSet;
use std::sync::OnceLock;

const ENGLISH: &str = "a about after again all also am an and any are as at be because been before being but by can could did do does \
    doing don done down each for from get got had has have having he her here hers him his how i if in into is it its itself just \
    ll me more most much my no nor not now of off on once only or other our out over own re s same she should so some such t than \
    that the their them then there these they this those through to too under until up ve very was we were what when where which \
    while who whom whose why will with would yes you your yours ok okay please thanks thank hello hi hey oh well really maybe let \
    remember recall remind tell told say said mention mentioned talk talked know think thing things something anything m d";
const GERMAN: &str = "aber alle als also am an auch auf aus bei bin bis bist da damit dann das dass dein deine dem den denn der des dich \
    die dies diese dir doch du durch ein eine einem einen einer eines er es etwas euch fur gegen habe haben hast hat hatte hatten \
    hier ich ihm ihn ihr ihre im in ist ja jetzt kann kein keine konnen machen man mein meine mich mir mit nach nicht noch nun nur \
    ob oder schon sehr sein seine sich sie sind so uber um und uns unser unter vom von vor wann war waren warum was weil welche wem \
    wen wenn wer werden wie wieder will wir wird wo zu zum zur erinnerst erinnern gesagt erzahlt bitte danke hallo weisst \
    meiner meinem meinen meines deiner deinem deinen deines seiner seinem seinen ihrer ihrem ihren unserer welcher welches dieser \
    dieses diesem diesen";
const SPANISH: &str = "a al algo como con cual cuando de del desde donde dos el ella ellos en era es esa ese eso esta estaba este esto ha \
    habia han hasta hay he la las le les lo los mas me mi mis mucho muy nada ni no nos o otra otro para pero poco por porque que quien \
    se ser si sin sobre son su sus te tengo ti tiene todo tu tus un una uno y ya yo recuerdas dije hola gracias";
const FRENCH: &str = "ai as au aux avec avoir c ce ces cette d dans de des deux du elle en est et ete etre eu il ils j je l la le les leur \
    lui ma mais me meme mes moi mon n ne nos notre nous on ont ou par pas pour qu quand que quel quelle qui s sa sans se ses si son \
    sont sur ta te tes toi ton tu un une vos votre vous y rappelles dit bonjour merci est-ce";
const ITALIAN: &str = "ai al alla anche che chi ci come con cosa da dei del della di dove e ed era gli ha hai ho i il in io la le lei lo loro \
    lui ma mi mia mio ne nel no noi non o per perche piu quando quello questa questo se sei si sono su sua suo ti tu tuo un una uno vi";
const PORTUGUESE: &str = "ao aos as com como da das de dele do dos e ela ele em era essa esse esta este eu foi ha isso ja la mais mas me meu \
    minha muito na nao nas no nos o os ou para pela pelo por qual quando que quem se sem ser seu sua tem teu tua um uma voce";
const DUTCH: &str = "aan al als bij dan dat de deze die dit doen door dus een en er ge geen haar had heb hebben heeft het hij hoe hun ik in is \
    je kan maar me met mij mijn na naar niet nog nu of om onder ons ook op over te toen tot u uit van veel voor waar was wat we \
    wel wie wij zal ze zich zij zijn zo zou";

/// Whether a word in small letters without marks is one of them.
pub(super) fn is_stop(word: &str) -> bool {
    static ALL: OnceLock<HashSet<&'static str>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let languages = [ENGLISH, GERMAN, SPANISH, FRENCH, ITALIAN, PORTUGUESE, DUTCH];
        languages.into_iter().flat_map(str::split_whitespace).collect()
    });
    all.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_domain::plain_word;

    #[test]
    fn frequent_words_of_each_language_are_known() {
        for word in ["the", "nicht", "para", "avec", "perché", "não", "niet", "für", "Remember"] {
            assert!(is_stop(&plain_word(word)), "{word}");
        }
        for word in ["sister", "Hund", "perro", "maison", "2024"] {
            assert!(!is_stop(&plain_word(word)), "{word}");
        }
    }
}
