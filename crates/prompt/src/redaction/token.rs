//! Keys that say what they are: by a prefix of the service that made them, or as JSON web tokens.

use super::Hit;
use super::character::{before, is_edge, runs};
use evenkeel_domain::RedactionKind;

/// A prefix, the least number of characters behind it, and whether dots belong to the key. The
/// numbers lie under those of real keys, since services make them longer over time.
struct Prefix(&'static str, usize, bool);

const PREFIXES: &[Prefix] = &[
    // Models: OpenAI, Anthropic, OpenRouter and DeepSeek; Hugging Face, Groq, Replicate, xAI, Perplexity, Tavily.
    Prefix("sk-", 16, false),
    Prefix("hf_", 20, false),
    Prefix("gsk_", 20, false),
    Prefix("r8_", 20, false),
    Prefix("xai-", 20, false),
    Prefix("pplx-", 20, false),
    Prefix("tvly-", 16, false),
    // Code: GitHub, GitLab, npm, PyPI.
    Prefix("ghp_", 20, false),
    Prefix("gho_", 20, false),
    Prefix("ghu_", 20, false),
    Prefix("ghs_", 20, false),
    Prefix("ghr_", 20, false),
    Prefix("github_pat_", 20, false),
    Prefix("glpat-", 16, false),
    Prefix("npm_", 20, false),
    Prefix("pypi-", 20, false),
    // Clouds and mail: Google, DigitalOcean, SendGrid, Shopify.
    Prefix("AIza", 30, false),
    Prefix("ya29.", 20, true),
    Prefix("GOCSPX-", 20, false),
    Prefix("dop_v1_", 20, false),
    Prefix("SG.", 30, true),
    Prefix("shpat_", 20, false),
    // Payment: Stripe.
    Prefix("sk_live_", 10, false),
    Prefix("sk_test_", 10, false),
    Prefix("rk_live_", 10, false),
    Prefix("rk_test_", 10, false),
    Prefix("whsec_", 16, false),
    // Talk: Slack.
    Prefix("xoxa-", 10, false),
    Prefix("xoxb-", 10, false),
    Prefix("xoxe-", 10, false),
    Prefix("xoxo-", 10, false),
    Prefix("xoxp-", 10, false),
    Prefix("xoxr-", 10, false),
    Prefix("xoxs-", 10, false),
    Prefix("xapp-", 10, false),
    // age, the file encryption.
    Prefix("AGE-SECRET-KEY-1", 40, false),
];

/// The kinds of AWS access key ids; sixteen capital letters and digits follow.
const AWS: [&str; 4] = ["AKIA", "ASIA", "AROA", "AIDA"];

pub(super) fn find(text: &str, hits: &mut Vec<Hit>) {
    for run in runs(text, is_token) {
        let word = text[run.clone()].trim_start_matches(['-', '_']);
        let from = run.end - word.len();
        // A run of its own, or behind the underscore of a name.
        if from == run.start && !is_edge(before(text, from)) {
            continue;
        }
        let to = web_token_end(text, from, run.end).or_else(|| prefixed_end(text, from, run.end));
        if let Some(to) = to {
            hits.push(Hit::new(from, to, RedactionKind::Key));
        }
    }
}

fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// Where the parts that follow with a dot before each end, at most `most` of them.
fn dotted_end(text: &str, end: usize, most: usize) -> usize {
    let mut end = end;
    for _ in 0..most {
        let part = text[end..].strip_prefix('.').map_or(0, |rest| rest.chars().take_while(|c| is_token(*c)).count());
        if part == 0 {
            break;
        }
        end += 1 + part;
    }
    end
}

/// `{"` in base64 is `eyJ`: a JSON web token has two or more such parts and a signature (RFC 7519).
fn web_token_end(text: &str, from: usize, end: usize) -> Option<usize> {
    let head = &text[from..end];
    let second = text[end..].strip_prefix('.')?;
    (head.starts_with("eyJ") && head.len() >= 10 && second.starts_with("eyJ")).then(|| dotted_end(text, end, 4))
}

fn prefixed_end(text: &str, from: usize, end: usize) -> Option<usize> {
    let word = &text[from..end];
    if word.len() == 20 && AWS.iter().any(|kind| word.starts_with(kind)) {
        let capital = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
        return word.bytes().all(capital).then_some(end);
    }
    PREFIXES.iter().find_map(|Prefix(prefix, least, dots)| {
        // `ya29.` and `SG.` end where the run does.
        let end = if *dots { text[from..].starts_with(prefix).then(|| dotted_end(text, end, 3))? } else { end };
        let key = text[from..end].strip_prefix(prefix)?;
        (key.len() >= *least && is_made_by_machine(key)).then_some(end)
    })
}

/// Keys have letters and digits mixed; "sk-learn-is-what-they-call-it" has words.
fn is_made_by_machine(key: &str) -> bool {
    let longest_word = runs(key, |c| c.is_ascii_lowercase()).map(|run| run.len()).max().unwrap_or(0);
    let digits = key.bytes().filter(u8::is_ascii_digit).count();
    let capitals = key.bytes().filter(u8::is_ascii_uppercase).count();
    let letters = key.bytes().filter(u8::is_ascii_alphabetic).count();
    let mixed = capitals >= 3 && capitals < letters;
    (digits >= 2 || mixed) && letters >= 2 && longest_word <= 12
}
