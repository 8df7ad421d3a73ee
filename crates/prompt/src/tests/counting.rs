use crate::{Calibrated, Characters, O200k, TokenCounter};

#[test]
fn o200k_counts_as_tiktoken_does() {
    // Known counts of tiktoken's o200k_base.
    for (text, tokens) in [("", 0), ("hello world", 2), ("Hello, world!", 4), ("tiktoken is great!", 6)] {
        assert_eq!(O200k.count(text), tokens, "{text:?}");
    }
    assert_eq!((O200k.name(), O200k.is_estimate()), ("o200k", false));
}

#[test]
fn characters_do_not_fall_short_on_other_scripts() {
    let texts = [
        "I cannot believe that they cancelled the meeting again, this is the third time!",
        "Ich kann nicht glauben, dass sie die Besprechung schon wieder abgesagt haben.",
        "Я не могу поверить, что они снова отменили встречу.",
        "また会議がキャンセルされたなんて信じられません。",
        "لا أصدق أنهم ألغوا الاجتماع مرة أخرى",
        "🫠🫠🫠🧑‍🚀",
    ];
    for text in texts {
        let (estimate, exact) = (f64::from(Characters.count(text)), f64::from(O200k.count(text)));
        assert!(estimate >= 0.85 * exact, "{estimate} for {exact}: {text}");
        assert!(estimate <= 3.0 * exact, "{estimate} for {exact}: {text}");
    }
    assert_eq!((Characters.count(""), Characters.count("a"), Characters.count("abcde")), (0, 1, 2));
    assert!(Characters.is_estimate() && Characters.name().ends_with('~'));
}

#[test]
fn calibration_scales_and_rounds_up() {
    let text = "hello world";
    assert_eq!(Calibrated::new(O200k, 1.25).count(text), 3);
    assert_eq!(Calibrated::new(O200k, f64::NAN).count(text), 2);
    assert_eq!(Calibrated::new(O200k, 1e9).count(text), 32);
    assert_eq!(Calibrated::new(O200k, -1.0).factor(), 0.25);
    let twice = Calibrated::new(Characters, 1.1);
    assert_eq!((twice.name(), twice.is_estimate()), ("characters×1.10~", true));
}
