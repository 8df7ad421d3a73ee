//! Which models count their tokens by o200k, the tokenizer that the store counts with.

use evenkeel_domain::{Provider, ProviderKind};

/// OpenAI's models with this tokenizer; a variant goes on with a hyphen, a colon or a dot.
const O200K: [&str; 9] = ["gpt-4o", "chatgpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "gpt-oss", "o1", "o3", "o4"];
/// OpenAI's own service; in some regions under a name before it.
const OPENAI: &str = "api.openai.com";

/// Whether counts of o200k are a model's own. Elsewhere than at OpenAI a name proves nothing: any
/// server may call any model `gpt-4o`.
pub(super) fn counts_by_o200k(provider: &Provider, model: &str) -> bool {
    provider.kind == ProviderKind::OpenaiCompatible && is_openai(&provider.base_url) && has_o200k(model)
}

fn is_openai(base_url: &str) -> bool {
    let address = base_url.trim().to_ascii_lowercase();
    let address = address.split_once("://").map_or(&*address, |(_, rest)| rest);
    let host = address.split(['/', ':', '?', '#']).next().unwrap_or_default();
    host == OPENAI || host.strip_suffix(OPENAI).is_some_and(|region| region.ends_with('.'))
}

fn has_o200k(model: &str) -> bool {
    let name = model.to_ascii_lowercase();
    let name = name.strip_prefix("ft:").unwrap_or(&name);
    O200K.iter().any(|family| name.strip_prefix(family).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', ':', '.'])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_domain::{ProviderId, ProviderLocality};

    fn provider(kind: ProviderKind, base_url: &str) -> Provider {
        Provider {
            id: ProviderId::from_parts(chrono::DateTime::UNIX_EPOCH, [0; 10]),
            kind,
            name: "P".into(),
            base_url: base_url.into(),
            locality: ProviderLocality::Remote,
            key_hint: None,
            extra_headers: std::collections::BTreeMap::new(),
            manual_models: vec![],
            window_override: None,
            timeout_seconds: 30,
        }
    }

    #[test]
    fn models_of_openai_since_gpt_4o_and_no_others() {
        let openai = provider(ProviderKind::OpenaiCompatible, "https://api.openai.com/v1");
        for model in ["gpt-4o", "gpt-4o-mini-2024-07-18", "chatgpt-4o-latest", "gpt-4.1-nano", "gpt-5", "gpt-5.1", "GPT-5-mini"] {
            assert!(counts_by_o200k(&openai, model), "{model}");
        }
        for model in ["o1", "o1-preview", "o3-mini", "o4-mini", "gpt-oss-120b", "ft:gpt-4o-mini:me::x"] {
            assert!(counts_by_o200k(&openai, model), "{model}");
        }
        for model in
            ["gpt-4", "gpt-4-turbo", "gpt-4-32k", "gpt-3.5-turbo", "ft:gpt-3.5-turbo:me", "davinci-002", "o10", "gpt-2", ""]
        {
            assert!(!counts_by_o200k(&openai, model), "{model}");
        }
    }

    #[test]
    fn a_name_proves_nothing_elsewhere() {
        use ProviderKind::{Anthropic, OpenaiCompatible};
        for base_url in
            ["api.openai.com", "https://api.openai.com:443/v1", "https://eu.api.openai.com/v1", "HTTPS://API.OpenAI.com"]
        {
            assert!(counts_by_o200k(&provider(OpenaiCompatible, base_url), "gpt-4o"), "{base_url}");
        }
        for base_url in [
            "http://127.0.0.1:11434/v1",
            "https://openrouter.ai/api/v1",
            "https://notapi.openai.com.example/v1",
            "https://evilapi.openai.com/v1",
            "https://example.org/api.openai.com",
            "",
        ] {
            assert!(!counts_by_o200k(&provider(OpenaiCompatible, base_url), "gpt-4o"), "{base_url}");
        }
        assert!(!counts_by_o200k(&provider(Anthropic, "https://api.openai.com/v1"), "gpt-4o"));
    }
}
