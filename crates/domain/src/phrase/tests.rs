use super::*;
use proptest::prelude::*;

fn words(text: &str) -> Vec<String> {
    let words = Words::read(text);
    (0..words.len()).map(|at| words.word(at).to_owned()).collect()
}

fn found(phrase: &str, text: &str) -> bool {
    let phrases = Phrases::new([((), phrase)], &[("colour", "red|blue")]);
    !phrases.all(&Words::read(text)).is_empty()
}

#[test]
fn letters_are_compared_without_their_dress() {
    assert_eq!(words("Don’t KILLLL  Mýself"), ["dont", "kil", "myself"]);
    assert_eq!(words("töten to\u{308}ten Straße ŁÓDŹ"), ["toten", "toten", "strase", "lodz"]);
    assert_eq!(words("su\u{200b}ici\u{ad}de ｓｏｓ"), ["suicide", "sos"]);
    assert_eq!(words("أُريدُ أن أمـوت"), ["اريد", "ان", "اموت"]);
    assert_eq!(words("死にたい。"), ["死", "に", "た", "い", ""]);
}

#[test]
fn sentences_end_where_they_do() {
    assert_eq!(words("Yes! No... maybe. So"), ["yes", "", "no", "maybe", "", "so"]);
    assert_eq!(words("one\ntwo\n\nthree\n- four"), ["one", "two", "", "thre", "", "four"]);
    assert_eq!(words("... ?"), [] as [&str; 0]);
}

#[test]
fn places_lead_back_to_the_text() {
    let text = "Über: «Äpfel», und";
    let words = Words::read(text);
    assert_eq!(&text[words.bytes(1, 2)], "Äpfel");
    assert_eq!(&text[words.bytes(0, 3)], "Über: «Äpfel», und");
    assert_eq!((0..3).map(|at| words.is_after_comma(at)).collect::<Vec<_>>(), [false, false, true]);
    assert_eq!(words.sentence(1), 0..3);
    assert_eq!(words.bytes(9, 10), 0..0);
}

#[test]
fn each_kind_of_slot_holds_what_it_says() {
    assert!(found("end it all", "I will END it  all."));
    assert!(!found("end it all", "The end. It all began"));
    assert!(found("want ~2 die", "want to die") && found("want ~2 die", "want die"));
    assert!(!found("want ~2 die", "want to really just die") && !found("want ~2 die", "want it. die"));
    assert!(found("suicid* ?of now", "Suicidal now") && found("suicid* ?of now", "suicide of now"));
    assert!(found("a @colour|green car", "a red car") && found("a @colour|green car", "a green car"));
    assert!(!found("a @colour car", "a green car"));
    assert!(found("self-harm", "self harm") && found("死にたい", "もう死にたいです"));
}

proptest! {
    #[test]
    fn any_text_has_words_in_order_and_within_it(text: String) {
        let words = Words::read(&text);
        let mut last = 0;
        for at in 0..words.len() {
            let bytes = words.bytes(at, at + 1);
            prop_assert!(bytes.start >= last && bytes.end <= text.len());
            prop_assert!(text.get(bytes.clone()).is_some());
            last = bytes.end;
        }
    }

    #[test]
    fn folding_twice_changes_nothing(text in "\\PC{0,60}") {
        let once = words(&text).join(" ");
        // The end of a sentence leaves a blank, which is all that may differ.
        let again = words(&once).join(" ");
        prop_assert_eq!(once.split_whitespace().collect::<Vec<_>>(), again.split_whitespace().collect::<Vec<_>>());
    }

    #[test]
    fn work_stays_below_the_bound_of_the_phrases(text in "(want|to|die|it|x| |\\.){0,80}") {
        let phrases = Phrases::new([(1, "want ~3 ?to ~2 die"), (2, "want to want"), (3, "die ?it ?it want")], &[]);
        let words = Words::read(&text);
        let mut work = 0;
        for at in 0..words.len() {
            phrases.at(&words, at, &mut work);
        }
        prop_assert!(work <= words.len() * phrases.most_work());
    }
}
