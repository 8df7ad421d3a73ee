//! Two sides that do the same work by turns, and how long each takes.

use crate::error::BenchError;
use crate::report::Row;
use crate::statistics::{median, percentile};
use std::ops::Range;
use std::time::Instant;

/// How often.
#[derive(Debug, Clone, Copy)]
pub struct Duel {
    /// Counted runs, after one that is thrown away.
    pub runs: usize,
    /// Pieces of work in each of the four blocks of a run.
    pub block: usize,
}

impl Duel {
    /// Measures in the order A B B A. Both sides get the numbers of the same pieces of work; what
    /// they return is dropped after the time was taken.
    pub fn measure<A, B>(
        self,
        mut ours: impl FnMut(usize) -> Result<A, BenchError>,
        mut theirs: impl FnMut(usize) -> Result<B, BenchError>,
    ) -> Result<Times, BenchError> {
        let mut times = Times::default();
        for run in 0..=self.runs {
            let (first, second) = (self.pieces(2 * run), self.pieces(2 * run + 1));
            let (mut our, mut their) = (Vec::new(), Vec::new());
            timed(&mut ours, first.clone(), &mut our)?;
            timed(&mut theirs, first, &mut their)?;
            timed(&mut theirs, second.clone(), &mut their)?;
            timed(&mut ours, second, &mut our)?;
            if run > 0 {
                times.ours.push(our);
                times.theirs.push(their);
            }
        }
        Ok(times)
    }

    /// Pieces of work that each side does, with those of the run that is thrown away.
    pub fn pieces_a_side(self) -> usize {
        2 * self.block * (self.runs + 1)
    }

    fn pieces(self, block: usize) -> Range<usize> {
        block * self.block..(block + 1) * self.block
    }
}

fn timed<T>(
    work: &mut impl FnMut(usize) -> Result<T, BenchError>,
    pieces: Range<usize>,
    times: &mut Vec<f64>,
) -> Result<(), BenchError> {
    for piece in pieces {
        let began = Instant::now();
        let kept = work(piece)?;
        times.push(began.elapsed().as_secs_f64() * 1_000.0);
        drop(kept);
    }
    Ok(())
}

/// Milliseconds of every piece of work, run by run.
#[derive(Debug, Default)]
pub struct Times {
    ours: Vec<Vec<f64>>,
    theirs: Vec<Vec<f64>>,
}

/// Who is compared, in what.
#[derive(Debug, Clone, Copy)]
pub struct Names<'a> {
    /// The work.
    pub what: &'a str,
    /// The side that is judged.
    pub ours: &'a str,
    /// The side beside it.
    pub theirs: &'a str,
}

impl Times {
    /// Times that were taken elsewhere, run by run.
    pub fn of(ours: Vec<Vec<f64>>, theirs: Vec<Vec<f64>>) -> Self {
        Self { ours, theirs }
    }

    /// The median of one side through the median of the other in each run, and of those the median:
    /// a machine that is slow for a while slows both sides of a run alike.
    pub fn ratio(&self) -> f64 {
        median(&self.ratios())
    }

    /// The run with the lowest ratio and the one with the highest.
    pub fn spread(&self) -> (f64, f64) {
        let ratios = self.ratios();
        ratios.into_iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), ratio| (low.min(ratio), high.max(ratio)))
    }

    fn ratios(&self) -> Vec<f64> {
        self.ours.iter().zip(&self.theirs).map(|(ours, theirs)| median(ours) / median(theirs)).collect()
    }

    /// What 95 of 100 pieces of our side's work stay within, in milliseconds.
    pub fn p95(&self) -> f64 {
        percentile(&self.ours.concat(), 0.95)
    }

    /// What our side takes more than the other, in milliseconds: the medians of each run, and of
    /// their differences the median.
    pub fn added(&self) -> f64 {
        let differences: Vec<_> =
            self.ours.iter().zip(&self.theirs).map(|(ours, theirs)| median(ours) - median(theirs)).collect();
        median(&differences)
    }

    /// The ratio, judged where there is a figure to reach, its spread, and the times of both sides.
    pub fn rows(&self, names: Names<'_>, most: Option<f64>) -> Vec<Row> {
        let Names { what, ours, theirs } = names;
        let metric = format!("{what}: {ours} / {theirs} (ratio of medians)");
        let ratio = match most {
            Some(most) => Row::at_most(metric, self.ratio(), most),
            None => Row::reported(metric, self.ratio()),
        };
        let (low, high) = self.spread();
        vec![
            ratio,
            Row::reported(format!("{what}: the run with the lowest ratio"), low),
            Row::reported(format!("{what}: the run with the highest ratio"), high),
            Row::reported(format!("{what}: {ours}, median (ms)"), median(&self.ours.concat())),
            Row::reported(format!("{what}: {theirs}, median (ms)"), median(&self.theirs.concat())),
        ]
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn sides_take_turns_on_the_same_pieces_and_the_first_run_does_not_count() {
        let order = RefCell::new(Vec::new());
        let note = |side: char| {
            let order = &order;
            move |piece: usize| {
                order.borrow_mut().push((side, piece));
                Ok(())
            }
        };
        let times = Duel { runs: 1, block: 2 }.measure(note('a'), note('b')).unwrap();
        let expected = [
            [('a', 0), ('a', 1), ('b', 0), ('b', 1), ('b', 2), ('b', 3), ('a', 2), ('a', 3)],
            [('a', 4), ('a', 5), ('b', 4), ('b', 5), ('b', 6), ('b', 7), ('a', 6), ('a', 7)],
        ];
        let order = order.into_inner();
        assert_eq!(order, expected.concat());
        assert_eq!(order.len(), 2 * Duel { runs: 1, block: 2 }.pieces_a_side());
        assert_eq!((times.ours.len(), times.ours[0].len(), times.theirs[0].len()), (1, 4, 4));
    }

    #[test]
    fn a_side_that_fails_ends_the_measurement() {
        let fails = |_| Err::<(), _>(BenchError::Worthless("no".to_owned()));
        assert!(Duel { runs: 1, block: 1 }.measure(|_| Ok(()), fails).is_err());
    }

    #[test]
    fn one_slow_piece_moves_neither_ratio_nor_spread_much() {
        let times = Times {
            ours: vec![vec![1.2, 1.2, 90.0], vec![2.0, 2.2, 2.4], vec![12.0, 12.0, 12.0]],
            theirs: vec![vec![1.0, 1.0, 1.0], vec![2.0, 2.0, 2.0], vec![10.5, 10.5, 10.5]],
        };
        assert!((times.ratio() - 12.0 / 10.5).abs() < 1e-12, "the run in the middle");
        let (low, high) = times.spread();
        assert!((low - 1.1).abs() < 1e-12 && (high - 1.2).abs() < 1e-12);
        assert!((times.p95() - 90.0).abs() < 1e-12);
        assert!((times.added() - 0.2).abs() < 1e-12);
    }

    #[test]
    fn the_rows_judge_the_ratio_alone() {
        let times = Times { ours: vec![vec![1.5]], theirs: vec![vec![1.0]] };
        let names = Names { what: "append", ours: "store", theirs: "raw" };
        let rows = times.rows(names, Some(1.3));
        assert_eq!(rows.iter().map(|row| row.value).collect::<Vec<_>>(), [1.5, 1.5, 1.5, 1.5, 1.0]);
        assert_eq!(rows.iter().map(|row| row.ok).collect::<Vec<_>>(), [false, true, true, true, true]);
        assert!(rows[0].metric.starts_with("append: store / raw"));
        assert!(times.rows(names, None)[0].ok);
    }
}
