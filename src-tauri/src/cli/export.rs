//! `evenkeel export`.

use super::Caller;
use super::conversations::named;
use super::failure::Failure;
use crate::options::{ExportWish, Format};
use evenkeel_domain::{ErrorBody, ErrorCode};
use evenkeel_service::{ExportFormat, ServiceError};
use serde::Serialize;

/// What was written, and where.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    path: String,
    bytes: usize,
}

pub(super) async fn export(caller: &Caller, wish: &ExportWish) -> Result<(), Failure> {
    caller.open().await?;
    let (service, format) = (&caller.service, format(caller, wish));
    let context = named(caller, wish.context.as_deref()).await?;
    let text = match (wish.conversation, context) {
        (Some(id), _) => service.conversation_export(id, format).await?,
        (None, Some(context)) => service.context_export(context, format).await?,
        // The definition of the command line asks for one of them.
        (None, None) => String::new(),
    };
    let Some(path) = &wish.output else { return caller.print.whole(&text) };
    let written = Written { path: path.display().to_string(), bytes: text.len() };
    service.export_write(text, path.clone(), wish.force).await.map_err(refused)?;
    caller.print.value(&written, |written| format!("Written to {}.", written.path))
}

/// What the command line has for it is said in its words.
fn refused(error: ServiceError) -> ErrorBody {
    let body = error.to_body();
    match body.code {
        ErrorCode::FileExists => body.advised("Add --force to replace it, or name another file."),
        _ => body,
    }
}

fn format(caller: &Caller, wish: &ExportWish) -> ExportFormat {
    match wish.format {
        Some(Format::Json) => ExportFormat::Json,
        Some(Format::Text) => ExportFormat::Text,
        None if caller.print.is_json() => ExportFormat::Json,
        Some(Format::Markdown) | None => ExportFormat::Markdown,
    }
}
