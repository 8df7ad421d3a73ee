use super::*;
use proptest::prelude::*;

mod pairs;

fn decided(previous: &str, reply: &str, text: &str, seconds: i64) -> FollowUp {
    let since = Some(Duration::seconds(seconds));
    follow_up(&FollowUpInput { text, previous_user: Some(previous), previous_reply: Some(reply), since })
}

#[test]
fn the_first_message_follows_nothing() {
    for (previous_user, previous_reply) in [(None, None), (Some(" \n"), None), (None, Some(""))] {
        let decision = follow_up(&FollowUpInput { text: "And why is that?", previous_user, previous_reply, since: None });
        assert_eq!(decision.signals, [FirstMessage]);
        assert!(!decision.is_follow_up && decision.score < 0.01);
        assert_eq!(wanted(&decision), HistoryNeed::Little);
    }
}

#[test]
fn what_is_needed_of_the_history() {
    let need = |text, seconds| wanted(&decided("Suggest three books.", "Emma, Persuasion, Dracula.", text, seconds));
    assert_eq!(need("And which one is the shortest?", 20), HistoryNeed::More);
    assert_eq!(need("And which one is the shortest?", 90_000), HistoryNeed::More);
    let fresh = "My landlord wants to raise the rent by twenty percent. Is he allowed to?";
    assert_eq!(need(fresh, 90_000), HistoryNeed::Little);
    assert_eq!(need(fresh, 20), HistoryNeed::Usual);
}

#[test]
fn signals_are_named() {
    let signals = |text| decided("Suggest three books.", "Emma, Persuasion, Dracula.", text, 600).signals;
    for (text, signal) in [
        ("But I have read it.", Connective),
        ("Are they long?", Pronoun),
        ("Is that a good idea?", Demonstrative),
        ("As you said, the old ones.", Reference),
        ("why?", Ellipsis),
        ("Make it two.", Rework),
        ("Thanks a lot", Response),
        ("Who wrote Dracula?", SharedWords),
        ("Hello, new question: how do vaccines work?", NewTopic),
        ("Explain how a bill becomes law in the United States.", SelfContained),
    ] {
        assert!(signals(text).contains(&signal), "{text}: {:?}", signals(text));
    }
    assert!(!signals("My sister says she is tired.").contains(&Pronoun), "she is named in the message");
    assert!(!signals("Is it safe to eat raw mushrooms?").contains(&Pronoun), "it stands for nothing");
    assert!(!signals("Translate this: the cat sat on the mat").contains(&Demonstrative), "this comes with the message");
}

#[test]
fn time_is_a_signal_where_it_is_known() {
    let of =
        |since| follow_up(&FollowUpInput { text: "Hm?", previous_user: Some("a"), previous_reply: Some("b"), since }).signals;
    assert!(of(Some(Duration::seconds(5))).contains(&Recent));
    assert!(of(Some(Duration::days(2))).contains(&LongPause));
    assert!(of(Some(Duration::seconds(-5))).contains(&Recent), "a clock that was set back");
    assert!(!of(None).iter().any(|signal| matches!(signal, Recent | LongPause)));
}

proptest! {
    #[test]
    fn any_text_has_a_score_and_its_signals_once(text: String, user: Option<String>, reply: Option<String>, seconds: Option<i32>) {
        let since = seconds.map(|seconds| Duration::seconds(i64::from(seconds)));
        let input = FollowUpInput { text: &text, previous_user: user.as_deref(), previous_reply: reply.as_deref(), since };
        let decision = follow_up(&input);
        prop_assert!((0.0..=1.0).contains(&decision.score));
        prop_assert_eq!(decision.is_follow_up, decision.score >= LEAST);
        prop_assert!(decision.signals.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", decision.signals);
        prop_assert_eq!(follow_up(&input), decision, "the same input gives the same result");
    }
}

#[test]
fn a_long_message_takes_no_longer_than_its_beginning() {
    let long = "And why is that so, you said it before. ".repeat(200_000);
    let start = std::time::Instant::now();
    assert!(decided(&long, &long, &long, 5).signals.contains(&Connective));
    assert!(start.elapsed() < std::time::Duration::from_secs(5), "{:?}", start.elapsed());
}

#[test]
fn phrases_are_written_as_texts_are_read() {
    for rows in [&english::ENGLISH, &german::GERMAN, &spanish::SPANISH, &french::FRENCH, &arabic::ARABIC, &japanese::JAPANESE] {
        let lexicon = lexicon::Lexicon::from(rows);
        let lists = [
            rows.stop,
            rows.determiners,
            rows.connectives,
            rows.pronouns,
            rows.empty_pronouns,
            rows.demonstratives,
            rows.references,
            rows.ellipses,
            rows.reworks,
            rows.responses,
            rows.new_topics,
            rows.requests,
        ];
        for phrase in lists.into_iter().flat_map(|list| list.split('|')).filter(|phrase| !phrase.is_empty()) {
            let bare = phrase.trim_start_matches('^').trim_end_matches('$');
            assert!(wording::Wording::new(bare, &lexicon).has(phrase), "{phrase:?} cannot be found in {bare:?}");
        }
    }
}
