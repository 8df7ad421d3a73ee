//! A loaded plug-in.

use crate::call::{self, Guard};
use crate::host::Core;
use crate::{ABI, ComposeInput, ComposeOutput, Fault, Manifest, PluginError, TurnInput, TurnOutput};
use serde::Serialize;
use std::fmt;
use std::sync::Arc;
use wasmtime::InstancePre;

/// A plug-in, compiled once. Calls do not wait for each other, and each has its own memory.
pub struct Plugin {
    core: Arc<Core>,
    code: InstancePre<Guard>,
    manifest: Manifest,
    turns: bool,
}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plugin").field("manifest", &self.manifest).finish_non_exhaustive()
    }
}

impl Plugin {
    /// Checks the interface of a compiled module.
    pub(crate) fn new(core: Arc<Core>, code: InstancePre<Guard>, manifest: Manifest) -> Result<Self, PluginError> {
        let checked = call::version(&core, &code).and_then(|found| match found.try_into() {
            Ok(ABI) => call::interface(&core, &code),
            _ => Err(Fault::Abi { found: found.into(), place: "ek_abi", wanted: ABI.into() }),
        });
        match checked {
            Ok(turns) => Ok(Self { core, code, manifest, turns }),
            Err(fault) => Err(PluginError::new(&manifest.id, fault)),
        }
    }

    /// What the plug-in says of itself.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Asks which part of the history is sent. Takes at most about the deadline of the host;
    /// never call it where a wait of 200 ms would be felt.
    ///
    /// # Errors
    /// [`PluginError::Plugin`] with the [`Fault`] of a plug-in that was stopped, failed or
    /// answered wrongly. The plug-in and its host stay usable.
    pub fn compose(&self, input: &ComposeInput<'_>) -> Result<ComposeOutput, PluginError> {
        let exchanges = input.exchanges.len();
        let answer = self.answer(call::COMPOSE, input);
        let output = answer.and_then(|json| ComposeOutput::read(&json, exchanges, call::COMPOSE));
        output.map_err(|fault| self.named(fault))
    }

    /// Tells that a turn ended, and returns what the plug-in wants to know at the next call;
    /// `None` if it does not want to be told.
    ///
    /// # Errors
    /// As [`Plugin::compose`]. The state from before then stays.
    pub fn turn_complete(&self, input: &TurnInput<'_>) -> Result<Option<TurnOutput>, PluginError> {
        if !self.turns {
            return Ok(None);
        }
        let answer = self.answer(call::TURN_COMPLETE, input);
        let output = answer.and_then(|json| TurnOutput::read(&json, call::TURN_COMPLETE));
        output.map(Some).map_err(|fault| self.named(fault))
    }

    fn answer(&self, export: &'static str, input: &impl Serialize) -> Result<Vec<u8>, Fault> {
        let json = serde_json::to_vec(input).map_err(|e| Fault::Answer { export, reason: e.to_string() })?;
        call::answer(&self.core, &self.code, export, &json)
    }

    fn named(&self, fault: Fault) -> PluginError {
        PluginError::new(&self.manifest.id, fault)
    }
}
