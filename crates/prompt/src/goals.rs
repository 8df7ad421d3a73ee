//! The user's goals.

use crate::{Block, BlockKind, ContextProvider, Origin, Wanted};
use evenkeel_domain::Role;

/// Says what the user wants to reach.
#[derive(Debug, Clone, Copy)]
pub struct Goals<'a>(pub &'a [String]);

impl ContextProvider for Goals<'_> {
    fn compose(&self, wanted: &Wanted<'_>) -> Vec<Block> {
        let goals = self.0.iter().map(|goal| goal.trim()).filter(|goal| !goal.is_empty());
        let lines: Vec<String> = goals.map(|goal| format!("- {goal}")).collect();
        if lines.is_empty() {
            return Vec::new();
        }
        let text = format!("What the user wants to reach:\n{}", lines.join("\n"));
        vec![Block::new(BlockKind::Trailing, Origin::Goals, Role::System, text, wanted.counter)]
    }
}
