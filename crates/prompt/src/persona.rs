//! The text of a persona.

use evenkeel_domain::Revision;

/// The system text of a revision: instructions, then the personality by name.
#[must_use]
pub fn system_text(revision: &Revision) -> String {
    let mut text = revision.system_prompt.trim().to_owned();
    let name = revision.name.trim();
    // A context made from a preset may bear another name than the one its prompt speaks of.
    if !text.contains(name) {
        text.push_str(&format!("\n\nIn this conversation the assistant described above is called {name}."));
    }
    let personality = revision.personality.trim();
    if !personality.is_empty() {
        text.push_str(&format!("\n\n{name}'s personality: {personality}"));
    }
    text
}
