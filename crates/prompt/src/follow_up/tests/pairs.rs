//! How often the decision is right.

use super::*;

struct Pair {
    label: bool,
    language: &'static str,
    seconds: Option<i64>,
    user: &'static str,
    reply: &'static str,
    text: &'static str,
}

fn pair(line: &'static str) -> Pair {
    let mut fields = line.split(" | ");
    let mut head = fields.next().unwrap().split(' ');
    let label = head.next().unwrap() == "+";
    let language = head.next().unwrap();
    let seconds = head.next().unwrap().parse().ok();
    let mut next = || fields.next().unwrap();
    Pair { label, language, seconds, user: next(), reply: next(), text: next() }
}

fn pairs(file: &'static str) -> Vec<Pair> {
    file.lines().filter(|line| !line.starts_with('#')).map(pair).collect()
}

#[derive(Debug, Clone, Copy, Default)]
struct Score {
    right: u32,
    missed: u32,
    wrong: u32,
    fresh: u32,
}

impl Score {
    fn precision(self) -> f64 {
        f64::from(self.right) / f64::from((self.right + self.wrong).max(1))
    }

    fn recall(self) -> f64 {
        f64::from(self.right) / f64::from((self.right + self.missed).max(1))
    }

    fn f1(self) -> f64 {
        let (precision, recall) = (self.precision(), self.recall());
        2.0 * precision * recall / (precision + recall).max(f64::MIN_POSITIVE)
    }
}

fn measure(pairs: &[&Pair], shown: bool) -> Score {
    let mut score = Score::default();
    for pair in pairs {
        let since = pair.seconds.map(Duration::seconds);
        let input = FollowUpInput { text: pair.text, previous_user: Some(pair.user), previous_reply: Some(pair.reply), since };
        let decision = follow_up(&input);
        match (decision.is_follow_up, pair.label) {
            (true, true) => score.right += 1,
            (false, true) => score.missed += 1,
            (true, false) => score.wrong += 1,
            (false, false) => score.fresh += 1,
        }
        if shown && decision.is_follow_up != pair.label {
            println!(
                "  {} {:.2} {:?} in {}",
                if pair.label { "missed" } else { "wrong " },
                decision.score,
                decision.signals,
                pair.text
            );
        }
    }
    score
}

fn print(title: &str, pairs: &[&Pair], shown: bool) -> Score {
    println!("{title}\nlanguage  pairs  follow-ups  precision  recall     F1");
    let of = |language: &str| pairs.iter().copied().filter(|pair| pair.language == language).collect::<Vec<_>>();
    for language in ["en", "de", "es", "fr", "ar", "ja"] {
        row(language, measure(&of(language), false));
    }
    let all = measure(pairs, shown);
    row("all", all);
    all
}

fn row(name: &str, score: Score) {
    let Score { right, missed, wrong, fresh } = score;
    let (precision, recall, f1) = (score.precision(), score.recall(), score.f1());
    println!("{name:8} {:6} {:11} {precision:10.3} {recall:7.3} {f1:6.3}", right + missed + wrong + fresh, right + missed);
}

#[test]
fn pairs_are_told_apart() {
    let all = pairs(include_str!("../pairs.txt"));
    let later = pairs(include_str!("../pairs_later.txt"));
    let unseen = pairs(include_str!("../pairs_unseen.txt"));
    assert!(all.len() >= 240 && unseen.len() >= 40, "{} and {}", all.len(), unseen.len());
    let parts: (Vec<_>, Vec<_>) = all.iter().enumerate().partition(|(at, _)| at / 2 % 3 != 1);
    let [mut open, held_out] = [parts.0, parts.1].map(|part| part.into_iter().map(|(_, pair)| pair).collect::<Vec<_>>());
    open.extend(&later);
    let open_score = print("words and weights were chosen on", &open, true);
    // Errors of the other parts are not shown: who sees them chooses words for them.
    let held_score = print("held out", &held_out, false);
    let unseen_score = print("written after words and weights were done", &unseen.iter().collect::<Vec<_>>(), false);
    assert!(open_score.f1() >= 0.98, "{open_score:?}");
    assert!(held_score.f1() >= 0.94, "{held_score:?}");
    assert!(unseen_score.f1() >= 0.85, "{unseen_score:?}");
}
