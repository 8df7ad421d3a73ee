//! The conditions of a list.

use evenkeel_domain::folded;
use rusqlite::types::Value;
use rusqlite::{ParamsFromIter, params_from_iter};

/// A statement with only the conditions that are asked for: one that may or may not hold would use
/// no index. The texts are constants, so the number of different statements stays small.
pub(super) struct Filter {
    from: &'static str,
    conditions: Vec<&'static str>,
    order: Option<&'static str>,
    values: Vec<Value>,
}

impl Filter {
    /// Everything, as yet.
    pub(super) fn of(from: &'static str) -> Self {
        Self { from, conditions: Vec::new(), order: None, values: Vec::new() }
    }

    /// Leaves out what does not meet a condition; each `?` in it takes the next value.
    pub(super) fn only<const N: usize>(&mut self, condition: &'static str, values: [Value; N]) {
        self.conditions.push(condition);
        self.values.extend(values);
    }

    /// Sorts, and takes a part.
    pub(super) fn part(mut self, order: &'static str, limit: u32, offset: impl Into<i64>) -> Self {
        self.order = Some(order);
        self.values.extend([Value::from(limit), Value::from(offset.into())]);
        self
    }

    pub(super) fn sql(&self) -> String {
        let (from, conditions) = (self.from, self.conditions.join(" AND "));
        let part = self.order.map(|order| format!(" {order} LIMIT ? OFFSET ?")).unwrap_or_default();
        format!("{from} WHERE {conditions}{part}")
    }

    pub(super) fn values(&self) -> ParamsFromIter<&Vec<Value>> {
        params_from_iter(&self.values)
    }
}

/// A filter as it is compared; a blank one is none.
pub(super) fn wanted_text(text: Option<&str>) -> Option<String> {
    text.map(str::trim).filter(|text| !text.is_empty()).map(folded)
}
