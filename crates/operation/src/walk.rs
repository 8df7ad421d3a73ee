//! Going through JSON of any depth without recursion, and through so many values at most.

use serde_json::{Map, Value};

/// Values that are looked at.
pub(crate) const MOST_VALUES: usize = 100_000;

/// A value with the name that it stands under: for one in a list, the name of the list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node<'a> {
    pub key: &'a str,
    pub value: &'a Value,
    /// 0 for the outermost value.
    pub depth: usize,
}

enum Level<'a> {
    Object(serde_json::map::Iter<'a>),
    List(&'a str, std::slice::Iter<'a, Value>),
}

/// All values in the order that they are written in.
pub(crate) struct Walk<'a> {
    levels: Vec<Level<'a>>,
    first: Option<&'a Value>,
    left: usize,
}

impl<'a> Walk<'a> {
    pub(crate) fn of(value: &'a Value) -> Self {
        Self { levels: Vec::new(), first: Some(value), left: MOST_VALUES }
    }

    /// Whether there were more values than are looked at.
    pub(crate) fn is_cut(&self) -> bool {
        self.left == 0
    }

    fn entered(&mut self, key: &'a str, value: &'a Value) -> Node<'a> {
        let depth = self.levels.len();
        match value {
            Value::Object(fields) => self.levels.push(Level::Object(fields.iter())),
            Value::Array(items) => self.levels.push(Level::List(key, items.iter())),
            _ => {}
        }
        self.left = self.left.saturating_sub(1);
        Node { key, value, depth }
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = Node<'a>;

    fn next(&mut self) -> Option<Node<'a>> {
        if self.left == 0 {
            return None;
        }
        if let Some(first) = self.first.take() {
            return Some(self.entered("", first));
        }
        loop {
            let found = match self.levels.last_mut()? {
                Level::Object(fields) => fields.next().map(|(key, value)| (key.as_str(), value)),
                Level::List(key, items) => items.next().map(|value| (*key, value)),
            };
            if let Some((key, value)) = found {
                return Some(self.entered(key, value));
            }
            self.levels.pop();
        }
    }
}

/// The text or the whole number that a value is; nothing for any other, and for texts that are no ids by their length.
pub(crate) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => {
            let text = text.trim();
            (!text.is_empty() && text.len() <= 200).then(|| text.to_owned())
        }
        Value::Number(number) if number.is_u64() || number.is_i64() => Some(number.to_string()),
        _ => None,
    }
}

/// The first text of an object under one of these names.
pub(crate) fn text_of<'a>(fields: &'a Map<String, Value>, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| fields.get(*name)?.as_str()).filter(|text| !text.trim().is_empty())
}

/// The id of an object: its `id`, or the first field whose name says that it is one.
pub(crate) fn id_of(fields: &Map<String, Value>) -> Option<String> {
    let named = ["id", "ID", "Id", "_id", "uuid", "guid"].iter().find_map(|name| scalar(fields.get(*name)?));
    named.or_else(|| {
        let mut ids = fields.iter().filter(|(key, _)| crate::key::is_id(&crate::key::words(key)));
        ids.find_map(|(_, value)| scalar(value))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    #[test]
    fn values_come_in_order_with_the_names_that_they_stand_under() {
        let value = json!({"a": [1, {"b": 2}], "c": {"d": []}});
        let seen: Vec<_> = Walk::of(&value).map(|node| (node.key.to_owned(), node.depth)).collect();
        let expected = [("", 0), ("a", 1), ("a", 2), ("a", 2), ("b", 3), ("c", 1), ("d", 2)];
        assert_eq!(seen, expected.map(|(key, depth)| (key.to_owned(), depth)));
    }

    #[test]
    fn no_more_than_so_many_values_are_looked_at() {
        let value = Value::Array(vec![Value::Null; MOST_VALUES + 5]);
        let mut walk = Walk::of(&value);
        assert_eq!(walk.by_ref().count(), MOST_VALUES);
        assert!(walk.is_cut());
    }
}
