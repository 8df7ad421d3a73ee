//! What models put around an answer.

const THINKING: (&str, &str) = ("<think>", "</think>");

/// The answer without the thoughts that some models write before it, and without a code fence around it.
pub(crate) fn bare(answer: &str) -> &str {
    let answer = answer.trim();
    let answer = match answer.strip_prefix(THINKING.0) {
        Some(thoughts) => thoughts.split_once(THINKING.1).map_or("", |(_, rest)| rest.trim()),
        None => answer,
    };
    let Some(fenced) = answer.strip_prefix("```") else { return answer };
    let inside = fenced.split_once('\n').map_or("", |(_, inside)| inside).trim_end();
    inside.strip_suffix("```").unwrap_or(inside).trim()
}

/// A text on one line, its middle left out where it has more than `limit` characters, so that no message can
/// look like several.
pub(crate) fn one_line(text: &str, limit: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let count = line.chars().count();
    if count <= limit {
        return line;
    }
    let head = limit * 3 / 4;
    let begun: String = line.chars().take(head).collect();
    let end: String = line.chars().skip(count - (limit - head)).collect();
    format!("{} … {}", begun.trim_end(), end.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_loses_what_stands_around_it() {
        for (answer, inside) in [
            ("  {} \n", "{}"),
            ("<think>hm\n{\"a\":1}</think>\n{}", "{}"),
            ("<think>for ever", ""),
            ("```json\n{}\n```", "{}"),
            ("```\n{}", "{}"),
            ("```", ""),
        ] {
            assert_eq!(bare(answer), inside, "{answer:?}");
        }
    }

    #[test]
    fn a_long_text_keeps_its_beginning_and_its_end() {
        assert_eq!(one_line(" a\n b\t", 9), "a b");
        assert_eq!(one_line("one two three four five six", 16), "one two thre … six");
        assert_eq!(one_line("日本語日本語", 4), "日本語 … 語");
    }
}
