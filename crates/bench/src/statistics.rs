//! Numbers from many runs.

/// The middle value, or the mean of the two in the middle; NaN for none.
pub fn median(values: &[f64]) -> f64 {
    let sorted = sorted(values);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// The smallest value that at least the share `share` (0–1) of all values does not exceed
/// (nearest rank); NaN for none.
pub fn percentile(values: &[f64], share: f64) -> f64 {
    let sorted = sorted(values);
    let rank = (share * sorted.len() as f64).ceil().max(1.0) as usize;
    sorted.get(rank - 1).copied().unwrap_or(f64::NAN)
}

/// The arithmetic mean; NaN for none.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Slope of the least-squares line through `(x, y)`; 0 where all x are the same.
pub fn slope(points: &[(f64, f64)]) -> f64 {
    let x_mean = mean(&points.iter().map(|(x, _)| *x).collect::<Vec<_>>());
    let y_mean = mean(&points.iter().map(|(_, y)| *y).collect::<Vec<_>>());
    let spread: f64 = points.iter().map(|(x, _)| (x - x_mean).powi(2)).sum();
    let joint: f64 = points.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
    if spread > 0.0 { joint / spread } else { 0.0 }
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(&[7.0]), 7.0);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn a_percentile_is_one_of_the_values() {
        let values: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!(percentile(&values, 0.95), 95.0);
        assert_eq!(percentile(&values, 1.0), 100.0);
        assert_eq!(percentile(&values, 0.0), 1.0);
        assert_eq!(percentile(&[2.0, 1.0], 0.95), 2.0);
        assert!(percentile(&[], 0.5).is_nan());
    }

    #[test]
    fn the_slope_is_that_of_the_line() {
        assert_eq!(slope(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]), 2.0);
        assert_eq!(slope(&[(-1.0, 0.5), (1.0, -0.5)]), -0.5);
        // Points off the line: the least-squares slope, not that of first and last.
        assert!((slope(&[(0.0, 0.0), (1.0, 1.0), (2.0, 0.0), (3.0, 1.0)]) - 0.2).abs() < 1e-12);
        assert_eq!(slope(&[(1.0, 0.0), (1.0, 9.0)]), 0.0);
        assert_eq!(slope(&[]), 0.0);
    }
}
