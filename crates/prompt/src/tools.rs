//! Tool definitions: complete or absent.

use crate::{Block, BlockKind, ContextProvider, Origin, Prompt, Wanted};
use evenkeel_domain::{Role, ToolSchema};

/// Gives the tools that a model may ask for as one block. It is no message: a request has a field of its own for it.
pub struct ToolDefinitions<'a>(pub &'a [ToolSchema]);

impl ContextProvider for ToolDefinitions<'_> {
    fn compose(&self, wanted: &Wanted<'_>) -> Vec<Block> {
        if self.0.is_empty() {
            return Vec::new();
        }
        // Plain data, which always has a JSON form.
        let text = serde_json::to_string(self.0).unwrap_or_default();
        vec![Block::new(BlockKind::Tools, Origin::Tools, Role::System, text, wanted.counter)]
    }
}

impl Prompt {
    /// The tools that the model is told of; none where they did not fit.
    #[must_use]
    pub fn tools(&self) -> Vec<ToolSchema> {
        let block = self.blocks.iter().find(|block| block.included && block.origin == Origin::Tools);
        block.and_then(|block| serde_json::from_str(&block.text).ok()).unwrap_or_default()
    }
}
