//! Conversations that are made up: facts about the people in somebody's life, said once, among talk
//! about the same people and the same things, with long replies that repeat everybody's words.
//!
//! The same in every run. The questions use other endings and partly other words than what was said;
//! some facts were only said in answer to a question, so that they share no word with what is asked.

use super::set::{Asked, Line, Sample, Session, Set};
use crate::store::chance::Chance;
use chrono::{DateTime, TimeDelta, Utc};

/// The seed of the set.
pub const SEED: u64 = 2_026;
/// Facts in one conversation.
const FACTS: usize = 3;
/// Exchanges of a conversation in which nothing of note is said.
const SMALL_TALK: usize = 14;
/// Of ten facts, so many were answers to a question.
const ANSWERS: usize = 3;

const PEOPLE: [&str; 16] = [
    "sister",
    "brother",
    "cousin",
    "aunt",
    "uncle",
    "neighbour",
    "boss",
    "colleague",
    "roommate",
    "grandmother",
    "grandfather",
    "niece",
    "nephew",
    "coach",
    "landlord",
    "daughter",
];

/// Something that can be said of each of them; `{who}` and `{value}` are filled in.
struct Topic {
    says: [&'static str; 2],
    /// What the companion asks, and what is said to that.
    asked: &'static str,
    answers: &'static str,
    questions: [&'static str; 2],
    /// What a reply says about it, whoever it is about.
    echo: &'static str,
    values: [&'static str; 8],
}

const TOPICS: [Topic; 12] = [
    Topic {
        says: ["My {who} adopted {value} from the shelter last month.", "Guess what, my {who} is adopting {value}!"],
        asked: "What did your {who} bring home from the shelter, then?",
        answers: "It was {value}, and we are all in love.",
        questions: ["Which animal did my {who} adopt?", "What has my {who} been adopting from a shelter?"],
        echo: "Adopting an animal is a big step for a {who}, since shelters ask many questions before anybody adopts.",
        values: ["a greyhound", "a parrot", "two kittens", "a tortoise", "a ferret", "an old donkey", "a hedgehog", "a rabbit"],
    },
    Topic {
        says: ["My {who} moved to {value} in spring.", "So my {who} is moving to {value} next week."],
        asked: "And which city did your {who} move to in the end?",
        answers: "{value}, of all places.",
        questions: ["To which city did my {who} move?", "Where was my {who} moving?"],
        echo: "Moving to another city is exciting, and every {who} who moves needs boxes, friends and patience.",
        values: ["Lisbon", "Bergen", "Krakow", "Ghent", "Trieste", "Galway", "Porto", "Tartu"],
    },
    Topic {
        says: ["My {who} started to work as {value}.", "Since May my {who} works as {value}."],
        asked: "What is the new work of your {who}?",
        answers: "{value}. Nobody had expected that.",
        questions: ["As what is my {who} working now?", "What work did my {who} start?"],
        echo: "A new job changes the days of any {who}, and those who start working somewhere else sleep badly at first.",
        values: ["a beekeeper", "a tram driver", "a notary", "a glazier", "a midwife", "a piano tuner", "a surveyor", "a pilot"],
    },
    Topic {
        says: [
            "It turned out that my {who} is allergic to {value}.",
            "The doctor says that {value} sets off the allergy of my {who}.",
        ],
        asked: "What does the allergy of your {who} come from?",
        answers: "From {value}, they tested it twice.",
        questions: ["To what is my {who} allergic?", "Which food triggers the allergies of my {who}?"],
        echo: "Allergies can begin at any age, and a {who} who is allergic should read every label and tell the cook.",
        values: ["hazelnuts", "celery", "shrimp", "mustard", "peaches", "lupin", "sesame", "kiwis"],
    },
    Topic {
        says: ["My {who} is learning to play {value}.", "My {who} has begun to learn {value}, the walls are thin."],
        asked: "Which instrument is your {who} learning?",
        answers: "{value}, every evening at eight.",
        questions: ["Which instrument does my {who} learn to play?", "What is my {who} learning to play?"],
        echo: "Learning an instrument takes years, and a {who} who plays a little each day learns faster than one who plays at weekends.",
        values: ["the oboe", "the cello", "the banjo", "the tuba", "the zither", "the harp", "the bagpipes", "the accordion"],
    },
    Topic {
        says: ["The birthday of my {who} is on {value}.", "On {value} my {who} has a birthday, I must not miss it."],
        asked: "When does your {who} turn a year older?",
        answers: "On {value}, so there is time for a present.",
        questions: ["On which day is my {who}'s birthday?", "When are we celebrating the birthday of my {who}?"],
        echo: "Birthdays matter to people, and a {who} whose birthday is remembered feels seen for the whole day.",
        values: ["3 March", "19 June", "8 October", "27 November", "14 May", "22 August", "1 December", "30 January"],
    },
    Topic {
        says: ["My {who} travelled to {value} over the holidays.", "My {who} is back from travels in {value}."],
        asked: "Where did your {who} go over the holidays?",
        answers: "All the way to {value}, by train.",
        questions: ["To which country did my {who} travel?", "Where was my {who} travelling over the holiday?"],
        echo: "Travelling opens the mind, and a {who} who travels light sees more of every country.",
        values: ["Iceland", "Morocco", "Georgia", "Portugal", "Vietnam", "Albania", "Chile", "Jordan"],
    },
    Topic {
        says: ["My {who} baked {value} for the party.", "Yesterday my {who} was baking {value} until midnight."],
        asked: "What came out of the oven of your {who}?",
        answers: "{value}. There is nothing left of it.",
        questions: ["What did my {who} bake for the party?", "What was it that my {who} was baking?"],
        echo: "Baking calms the nerves, and a {who} who bakes for a party should let the dough rest and the guests wait.",
        values: [
            "a plum cake",
            "rye bread",
            "cinnamon rolls",
            "a quiche",
            "poppy seed strudel",
            "scones",
            "a pavlova",
            "pretzels",
        ],
    },
    Topic {
        says: ["My {who} broke {value} while skiing.", "While we skied, my {who} has broken {value}."],
        asked: "What happened to your {who} on the slope?",
        answers: "{value}, in plaster for six weeks.",
        questions: ["What did my {who} break on the ski slope?", "Which bone has my {who} broken?"],
        echo: "Breaking a bone is no small thing, and a {who} who skis again too early breaks the next one.",
        values: ["an ankle", "a wrist", "a collarbone", "two ribs", "a thumb", "an elbow", "a shin", "a kneecap"],
    },
    Topic {
        says: ["My {who} bought {value} at the flea market.", "At the market my {who} was buying {value} again."],
        asked: "What did your {who} carry home from the flea market?",
        answers: "{value}, for almost nothing.",
        questions: ["What did my {who} buy at the flea market?", "Which thing was bought by my {who} at the market?"],
        echo: "Buying at flea markets is half a sport, and a {who} who buys early in the morning pays more and gets the best.",
        values: ["a typewriter", "a globe", "brass lamps", "a sextant", "a birdcage", "an enamel sign", "a gramophone", "a loom"],
    },
    Topic {
        says: ["My {who} teaches {value} at the evening school.", "For a year my {who} has taught {value} there."],
        asked: "What can one learn from your {who} at the evening school?",
        answers: "{value}, on Tuesdays.",
        questions: ["Which subject does my {who} teach?", "What is taught by my {who} at the evening school?"],
        echo: "Teaching is learning twice, and a {who} who teaches in the evening needs a quiet morning.",
        values: ["astronomy", "bookkeeping", "Czech", "calligraphy", "geometry", "welding", "botany", "rhetoric"],
    },
    Topic {
        says: ["My {who} painted the kitchen {value}.", "My {who} has been painting the kitchen in {value}."],
        asked: "How does the kitchen of your {who} look now?",
        answers: "It is {value} from floor to ceiling.",
        questions: ["Which colour did my {who} paint the kitchen?", "How is the kitchen of my {who} painted?"],
        echo: "Painting a kitchen takes a weekend, and a {who} who paints alone should begin with the ceiling.",
        values: ["turquoise", "ochre", "violet", "olive green", "salmon", "cobalt blue", "burgundy", "ivory"],
    },
];

const TALK: [&str; 14] = [
    "I saw my {who} today and we talked about nothing in particular.",
    "My {who} called while I was in the kitchen, nothing new.",
    "I slept badly and dreamt of the market.",
    "Do you think I should invite my {who} for dinner?",
    "I am tired of work, the evenings are too short.",
    "My {who} asked me how I am, and I did not know what to say.",
    "The weather is grey and the city is loud.",
    "I would like to learn something new myself.",
    "Maybe an animal would do me good, but I travel too much.",
    "My {who} and I argued about the party.",
    "I could paint or bake something at the weekend.",
    "I thought of moving, and then I did not.",
    "My back hurts since I carried the boxes of my {who}.",
    "There was a birthday at the office and the cake was dry.",
];
const COMFORT: [&str; 6] = [
    "That sounds like a long day.",
    "Thank you for telling me about your {who}.",
    "Take a breath and look at what is there.",
    "It is good that you have your {who}.",
    "You do not have to decide anything today.",
    "What would help you this evening?",
];

/// More than 2,000 messages and 192 questions.
pub fn set(seed: u64) -> Set {
    Set { name: "made up".to_owned(), samples: vec![sample(seed, &PEOPLE)] }
}

/// A smaller one of the same kind, for a test.
#[cfg(test)]
pub fn short() -> Set {
    Set { name: "made up, short".to_owned(), samples: vec![sample(SEED, &PEOPLE[..5])] }
}

/// Who it is about, in which topic, with which value and wording.
#[derive(Clone, Copy)]
struct Fact {
    who: &'static str,
    topic: &'static Topic,
    value: &'static str,
    wording: usize,
}

fn sample(seed: u64, people: &[&'static str]) -> Sample {
    let mut chance = Chance::new(seed);
    let mut facts: Vec<Fact> = Vec::new();
    for (at, who) in people.iter().enumerate() {
        for (number, topic) in TOPICS.iter().enumerate() {
            let value = topic.values[(at * 5 + number) % topic.values.len()];
            facts.push(Fact { who, topic, value, wording: (at + number) % 2 });
        }
    }
    shuffle(&mut facts, &mut chance);
    let mut sample = Sample::default();
    for (number, facts) in facts.chunks(FACTS).enumerate() {
        let begins = begin() + TimeDelta::days(i64::try_from(number).unwrap_or(0) * 2);
        let mut talk = Talk { session: number, people, chance: &mut chance, lines: Vec::new() };
        let mut asked: Vec<Asked> = Vec::new();
        for part in 0..SMALL_TALK {
            if let Some(fact) = facts.get(part / 4).filter(|_| part % 4 == 2) {
                asked.push(talk.fact(*fact));
            }
            talk.small();
        }
        sample.sessions.push(Session { begins, lines: talk.lines });
        sample.questions.append(&mut asked);
    }
    sample
}

/// One conversation as it grows.
struct Talk<'a> {
    session: usize,
    people: &'a [&'static str],
    chance: &'a mut Chance,
    lines: Vec<Line>,
}

impl Talk<'_> {
    fn say(&mut self, is_user: bool, text: String) -> String {
        let id = format!("D{}:{}", self.session + 1, self.lines.len() + 1);
        self.lines.push(Line { id: id.clone(), is_user, text });
        id
    }

    fn small(&mut self) {
        let (said, reply) = (TALK[self.chance.below(TALK.len())], self.reply(None));
        let who = self.somebody();
        self.say(true, filled(said, who, ""));
        self.say(false, reply);
    }

    /// Says a fact, and gives the question about it.
    fn fact(&mut self, fact: Fact) -> Asked {
        let Fact { who, topic, value, wording } = fact;
        let said = if self.chance.below(10) < ANSWERS {
            self.say(true, filled("There is news of my {who}.", who, ""));
            self.say(false, filled(topic.asked, who, ""));
            topic.answers
        } else {
            topic.says[wording]
        };
        let id = self.say(true, filled(said, who, value));
        let reply = self.reply(Some(fact));
        self.say(false, reply);
        let text = filled(topic.questions[self.chance.below(2)], who, "");
        Asked { text, evidence: vec![id] }
    }

    /// A long reply that says little and repeats much.
    fn reply(&mut self, about: Option<Fact>) -> String {
        let mut parts = Vec::new();
        for _ in 0..2 {
            let (comfort, topic) = (COMFORT[self.chance.below(COMFORT.len())], &TOPICS[self.chance.below(TOPICS.len())]);
            let who = about.map_or_else(|| self.somebody(), |fact| fact.who);
            parts.push(filled(comfort, who, ""));
            parts.push(filled(about.map_or(topic.echo, |fact| fact.topic.echo), who, ""));
        }
        parts.dedup();
        parts.join(" ")
    }

    fn somebody(&mut self) -> &'static str {
        self.people[self.chance.below(self.people.len())]
    }
}

fn filled(text: &str, who: &str, value: &str) -> String {
    text.replace("{who}", who).replace("{value}", value)
}

fn shuffle<T>(list: &mut [T], chance: &mut Chance) {
    for last in (1..list.len()).rev() {
        list.swap(last, chance.below(last + 1));
    }
}

/// 2025-06-01T18:00:00Z.
fn begin() -> DateTime<Utc> {
    DateTime::from_timestamp(1_748_800_800, 0).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_set_is_large_enough_and_the_same_each_time() {
        let made = set(SEED);
        assert!(made.messages() >= 2_000 && made.questions() >= 150, "{} {}", made.messages(), made.questions());
        assert_eq!(made, set(SEED));
        assert_ne!(made, set(SEED + 1));
    }

    #[test]
    fn every_question_has_its_evidence_and_there_is_no_other() {
        let made = set(SEED);
        let sample = &made.samples[0];
        let lines: Vec<&Line> = sample.sessions.iter().flat_map(|session| &session.lines).collect();
        let ids: HashSet<&str> = lines.iter().map(|line| line.id.as_str()).collect();
        assert_eq!(ids.len(), lines.len());
        for asked in &sample.questions {
            assert!(asked.evidence.iter().all(|id| ids.contains(id.as_str())), "{}", asked.text);
        }
        let texts: HashSet<&str> = sample.questions.iter().map(|asked| asked.text.as_str()).collect();
        assert_eq!(texts.len(), sample.questions.len(), "no question is asked of two facts");
    }
}
