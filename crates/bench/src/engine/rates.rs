//! Prompt and generation rate of the engine beside llama.cpp's own server: the same file, window,
//! thread count, client and prompts, in the order A B B A.

use super::exchange::{Exchange, Server};
use super::prompt;
use crate::error::BenchError;
use crate::report::{Progress, Report, Row};
use crate::statistics::median;

/// Tokens asked for; the model may end earlier, so the real ones are counted.
const REPLY_TOKENS: u32 = 128;
/// Shorter replies say nothing of a rate.
const LEAST_REPLY: u32 = 32;
/// A prompt of which more than this share came from a cache measures the cache.
const MOST_CACHED: f64 = 0.02;
/// Runs that a comparison needs to be trusted.
const LEAST_RUNS: f64 = 10.0;

/// The rates of both servers, run by run.
#[derive(Debug, Default)]
struct Rates {
    ours: Vec<f64>,
    theirs: Vec<f64>,
}

impl Rates {
    fn push(&mut self, ours: f64, theirs: f64) {
        self.ours.push(ours);
        self.theirs.push(theirs);
    }

    /// The median of the ratios of neighbouring runs: what slows both alike falls out.
    fn ratio(&self) -> f64 {
        let ratios: Vec<_> = self.ours.iter().zip(&self.theirs).map(|(ours, theirs)| ours / theirs).collect();
        median(&ratios)
    }

    fn rows(&self, what: &str) -> [Row; 3] {
        [
            Row::at_least(format!("{what} rate, engine / llama.cpp server (ratio)"), self.ratio(), 1.0),
            Row::reported(format!("{what} rate, engine (tokens/s)"), median(&self.ours)),
            Row::reported(format!("{what} rate, llama.cpp server (tokens/s)"), median(&self.theirs)),
        ]
    }
}

/// Measures `runs` pairs after one that is thrown away.
pub async fn measure(ours: &Server, theirs: &Server, runs: usize, progress: Progress) -> Result<Report, BenchError> {
    let (mut prompts, mut generations) = (Rates::default(), Rates::default());
    pair(ours, theirs, 0).await?;
    for run in 1..=runs {
        let (our, their) = pair(ours, theirs, run).await?;
        prompts.push(our.prompt_rate(), their.prompt_rate());
        generations.push(our.generation_rate(), their.generation_rate());
        progress.say(&format!(
            "  {run:2}: prompt {:.0} / {:.0} tokens/s, generation {:.1} / {:.1} tokens/s",
            our.prompt_rate(),
            their.prompt_rate(),
            our.generation_rate(),
            their.generation_rate()
        ));
    }
    let mut rows = Vec::from(prompts.rows("prompt"));
    rows.extend(generations.rows("generation"));
    rows.push(Row::at_least("alternating runs", runs as f64, LEAST_RUNS));
    Ok(Report { rows, preface: String::new() })
}

/// The same prompt to both, every other time in the other order.
async fn pair(ours: &Server, theirs: &Server, run: usize) -> Result<(Exchange, Exchange), BenchError> {
    if run.is_multiple_of(2) {
        let our = once(ours, run).await?;
        Ok((our, once(theirs, run).await?))
    } else {
        let their = once(theirs, run).await?;
        Ok((once(ours, run).await?, their))
    }
}

async fn once(server: &Server, run: usize) -> Result<Exchange, BenchError> {
    let exchange = server.ask(prompt::distinct(run), REPLY_TOKENS).await?;
    let usage = exchange.usage;
    if usage.completion_tokens < LEAST_REPLY {
        return Err(BenchError::Worthless(format!("a reply ended after {} tokens", usage.completion_tokens)));
    }
    let cached = f64::from(usage.cached_tokens.unwrap_or_default());
    if cached > f64::from(usage.prompt_tokens) * MOST_CACHED {
        return Err(BenchError::Worthless(format!("{cached} tokens of a new prompt came from a cache")));
    }
    Ok(exchange)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_compares_neighbours() {
        // The machine halves its speed after the first pair; the engine is a tenth faster throughout.
        let rates = Rates { ours: vec![110.0, 55.0, 55.0], theirs: vec![100.0, 50.0, 50.0] };
        assert!((rates.ratio() - 1.1).abs() < 1e-12);
        let [ratio, ours, theirs] = rates.rows("prompt");
        assert!(ratio.ok && ratio.metric.starts_with("prompt rate"));
        assert_eq!((ours.value, theirs.value), (55.0, 50.0));
    }
}
