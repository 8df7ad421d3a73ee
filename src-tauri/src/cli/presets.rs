//! `evenkeel presets`.

use super::Caller;
use super::failure::Failure;
use super::print::{fields, shortened, table, when};
use crate::options::PresetsWish;
use evenkeel_domain::{Preset, PresetQuery};
use evenkeel_service::PresetPage;

pub(super) async fn presets(caller: &Caller, wish: &PresetsWish) -> Result<(), Failure> {
    caller.open().await?;
    match wish {
        PresetsWish::List { all, page, page_size } => {
            let query = PresetQuery { include_inactive: *all, page: *page, page_size: *page_size };
            caller.print.value(&caller.service.preset_list(query).await?, listed)
        }
        PresetsWish::Show { preset } => caller.print.value(&caller.service.preset_named(preset).await?, shown),
    }
}

fn listed(page: &PresetPage) -> String {
    let row = |preset: &Preset| {
        let note = if preset.is_active { "" } else { " (hidden)" };
        [format!("{}{note}", shortened(&preset.name, 40)), shortened(&preset.description, 60), preset.id.to_string()]
    };
    table(["NAME", "FOR", "ID"], page.presets.iter().map(row))
}

fn shown(preset: &Preset) -> String {
    let settings = &preset.default_settings;
    let head = fields([
        ("Name", Some(preset.name.clone())),
        ("Id", Some(preset.id.to_string())),
        ("For", Some(preset.description.clone()).filter(|text| !text.is_empty())),
        ("Temperature", Some(settings.temperature.to_string())),
        ("Tokens of a reply", Some(settings.max_tokens.to_string())),
        ("Tokens of history", Some(settings.max_history_tokens.to_string())),
        ("Expires after", settings.expiry_days.map(|days| format!("{days} days"))),
        ("Changed", Some(when(preset.updated_at))),
        ("Personality", Some(preset.default_personality.clone()).filter(|text| !text.is_empty())),
    ]);
    format!("{head}\n{}\n", preset.system_prompt.trim_end())
}
