//! How values of the domain lie in columns.

use crate::StoreError;
use chrono::{DateTime, Utc};
use evenkeel_domain::{ModelChoice, ProviderId, RevisionId};
use rusqlite::Row;
use uuid::Uuid;

/// A UUID as its 16 bytes.
pub(crate) fn bytes(id: Uuid) -> [u8; 16] {
    id.into_bytes()
}

/// The id in a column.
pub(crate) fn id<T: From<Uuid>>(row: &Row<'_>, column: usize) -> Result<T, StoreError> {
    Ok(Uuid::from_bytes(row.get(column)?).into())
}

/// The id in a column that may be empty.
pub(crate) fn maybe_id<T: From<Uuid>>(row: &Row<'_>, column: usize) -> Result<Option<T>, StoreError> {
    Ok(row.get::<_, Option<[u8; 16]>>(column)?.map(|bytes| Uuid::from_bytes(bytes).into()))
}

/// The time in a column, in milliseconds since 1970.
pub(crate) fn time(row: &Row<'_>, column: usize) -> Result<DateTime<Utc>, StoreError> {
    maybe_time(row, column)?.ok_or_else(|| StoreError::DamagedValue { what: format!("the time in column {column}") })
}

/// The time in a column that may be empty.
pub(crate) fn maybe_time(row: &Row<'_>, column: usize) -> Result<Option<DateTime<Utc>>, StoreError> {
    let Some(millis) = row.get::<_, Option<i64>>(column)? else { return Ok(None) };
    let time = DateTime::from_timestamp_millis(millis);
    time.map(Some).ok_or_else(|| StoreError::DamagedValue { what: format!("the time {millis} in column {column}") })
}

/// The variant whose name is in a column.
pub(crate) fn variant<T: Copy>(row: &Row<'_>, column: usize, all: &[T], name: fn(T) -> &'static str) -> Result<T, StoreError> {
    let text =
        row.get_ref(column)?.as_str().map_err(|_| StoreError::DamagedValue { what: format!("the name in column {column}") })?;
    let found = all.iter().copied().find(|&one| name(one) == text);
    found.ok_or_else(|| StoreError::DamagedValue { what: format!("the name {text:?} in column {column}") })
}

/// A model: its provider in a column and its name in the next one.
pub(crate) fn model(row: &Row<'_>, column: usize) -> Result<Option<ModelChoice>, StoreError> {
    let provider: Option<ProviderId> = maybe_id(row, column)?;
    let model: Option<String> = row.get(column + 1)?;
    Ok(provider.zip(model).map(|(provider_id, model)| ModelChoice { provider_id, model }))
}

/// The two columns of a model.
pub(crate) fn of_model(model: Option<&ModelChoice>) -> (Option<[u8; 16]>, Option<&str>) {
    (model.map(|model| bytes(model.provider_id.uuid())), model.map(|model| model.model.as_str()))
}

/// The revision in a column that may be empty.
pub(crate) fn maybe_revision(row: &Row<'_>, column: usize) -> Result<Option<RevisionId>, StoreError> {
    Ok(row.get::<_, Option<String>>(column)?.map(RevisionId::new))
}

/// JSON text as a value.
pub(crate) fn json<T: serde::de::DeserializeOwned>(row: &Row<'_>, column: usize) -> Result<T, StoreError> {
    let damaged = || StoreError::DamagedValue { what: format!("the JSON in column {column}") };
    serde_json::from_str(row.get_ref(column)?.as_str().map_err(|_| damaged())?).map_err(|_| damaged())
}

/// A value as JSON text.
pub(crate) fn of_json(value: &impl serde::Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::defect(format!("a value has no JSON form ({error})")))
}

/// A number in a column that is never negative.
pub(crate) fn count(row: &Row<'_>, column: usize) -> Result<u64, StoreError> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| StoreError::DamagedValue { what: format!("the count {number} in column {column}") })
}

/// A time that may be missing, as it lies in a column.
pub(crate) fn of_time(time: Option<DateTime<Utc>>) -> Option<i64> {
    time.map(|time| time.timestamp_millis())
}
