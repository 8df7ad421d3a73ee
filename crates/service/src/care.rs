//! Care: whom to call, where what the user wrote is a sign of danger. Nothing of it is kept.

use crate::{Service, ServiceError};
use evenkeel_domain::{CareCard, CareSign, ChatEvent, Feature, FieldError, region_of, signs};
use std::path::{Path, PathBuf};

impl Service {
    /// The helplines of a region (ISO 3166), or of the user's own; worldwide ones where it has none.
    ///
    /// # Errors
    /// The region is no two letters.
    pub async fn care_helplines(&self, region: Option<String>) -> Result<CareCard, ServiceError> {
        let region = match region.map(|region| region.trim().to_ascii_uppercase()) {
            Some(region) if region.is_empty() || is_region(&region) => region,
            Some(region) => {
                let value = region.chars().take(80).collect();
                return Err(
                    FieldError { field: "region", value, range: "two letters, or empty for the whole world".into() }.into()
                );
            }
            None => self.region(),
        };
        Ok(CareCard::of(CareSign::SelfHarm, &region))
    }

    /// Gives the card for what was typed, where it has a sign of danger and cards are wished for.
    pub(crate) async fn care_for(&self, typed: Option<String>, sink: &(dyn Fn(ChatEvent) + Send + Sync)) {
        let Some(text) = typed.filter(|_| self.is_on(Feature::CareCard)) else { return };
        if let Ok(Some(sign)) = tokio::task::spawn_blocking(move || signs(&text)).await {
            sink(ChatEvent::Care { card: CareCard::of(sign, &self.region()) });
        }
    }

    /// The region of the settings, else the one the machine stands in as far as the system tells; else empty.
    fn region(&self) -> String {
        let chosen = self.session().map(|session| session.settings().helpline_region).unwrap_or_default();
        if !chosen.is_empty() {
            return chosen;
        }
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().find_map(variable).unwrap_or_default();
        let zone = Some(self.zone()).filter(|zone| zone.contains('/')).or_else(|| variable("TZ"));
        let zone = zone.or_else(|| zone_of_link(&std::fs::read_link("/etc/localtime").ok()?)).unwrap_or_default();
        region_of(&locale, zone.trim_start_matches(':'))
    }
}

fn is_region(text: &str) -> bool {
    text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// `Europe/Vienna` of the link that Unix systems keep their zone in.
fn zone_of_link(link: &Path) -> Option<String> {
    let parts = link.iter().skip_while(|part| *part != "zoneinfo").skip(1);
    let zone: PathBuf = parts.collect();
    zone.to_str().filter(|zone| !zone.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_zone_is_what_follows_the_folder_of_zones() {
        for (link, zone) in [
            ("/usr/share/zoneinfo/Europe/Vienna", Some("Europe/Vienna")),
            ("../usr/share/zoneinfo/America/Indiana/Knox", Some("America/Indiana/Knox")),
            ("/var/db/timezone/zoneinfo/Asia/Tokyo", Some("Asia/Tokyo")),
            ("/usr/share/zoneinfo", None),
            ("/etc/other", None),
        ] {
            assert_eq!(zone_of_link(Path::new(link)).as_deref(), zone, "{link}");
        }
    }
}
