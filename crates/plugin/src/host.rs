//! The sandbox: one engine with its limits for all plug-ins.

use crate::call::{self, Guard};
use crate::ticker::Ticker;
use crate::{Fault, Plugin, PluginError, folder, size};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use wasmtime::{Config, Engine, ExternType, InstancePre, Linker, Module, OptLevel};

/// Most bytes of stack of a call. Threads that wait for others have 2 MiB.
const STACK: usize = 512 << 10;

/// What one call of a plug-in may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most instructions, as the engine counts them. The same on every machine.
    pub fuel: u64,
    /// Most time, for a machine that is slow or busy.
    pub deadline: Duration,
    /// Most bytes of memory.
    pub memory: usize,
    /// Most entries of a table.
    pub table: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { fuel: 250_000_000, deadline: Duration::from_millis(200), memory: 64 << 20, table: 1 << 16 }
    }
}

/// Loads plug-ins and runs them in a sandbox.
///
/// Holds one thread, which sleeps while no plug-in runs and ends with the host and the last of its
/// plug-ins.
pub struct Host {
    core: Arc<Core>,
}

/// What a host shares with its plug-ins.
pub(crate) struct Core {
    pub engine: Engine,
    pub limits: Limits,
    pub ticker: Ticker,
    linker: Linker<Guard>,
}

impl Host {
    /// A host with the standard limits.
    ///
    /// # Errors
    /// [`PluginError::Host`] if no code can be compiled or no thread started here.
    pub fn new() -> Result<Self, PluginError> {
        Self::with_limits(Limits::default())
    }

    /// A host with other limits.
    ///
    /// # Errors
    /// As [`Host::new`].
    pub fn with_limits(limits: Limits) -> Result<Self, PluginError> {
        let engine = Engine::new(&config()).map_err(|e| PluginError::Host(format!("{e:#}")))?;
        let linker = call::linker(&engine).map_err(|e| PluginError::Host(format!("{e:#}")))?;
        let ticker = Ticker::start(&engine).map_err(|e| PluginError::Host(e.to_string()))?;
        Ok(Self { core: Arc::new(Core { engine, limits, ticker, linker }) })
    }

    /// Reads a plug-in's folder, compiles its module and checks its interface. The files are not
    /// needed any more then. Compiling cannot be stopped: it takes milliseconds for an honest module,
    /// and up to about a quarter of a minute for one that was made to take long. Call it where that may be.
    ///
    /// # Errors
    /// [`PluginError::Plugin`] with any [`Fault`] of a plug-in that is refused.
    pub fn load(&self, folder: &Path) -> Result<Plugin, PluginError> {
        let manifest = folder::describe(folder)?.manifest;
        let named = |fault| PluginError::new(&manifest.id, fault);
        let wasm = folder::module(folder, &manifest).map_err(named)?;
        let code = self.core.compile(&wasm).map_err(named)?;
        Plugin::new(Arc::clone(&self.core), code, manifest)
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.core
    }
}

impl Core {
    /// Compiles a module that imports nothing but `env.abort`.
    pub fn compile(&self, wasm: &[u8]) -> Result<InstancePre<Guard>, Fault> {
        size::check(wasm)?;
        let module = Module::from_binary(&self.engine, wasm).map_err(|e| Fault::Module(format!("{e:#}")))?;
        for import in module.imports() {
            let refused = || Fault::Import { module: import.module().to_owned(), name: import.name().to_owned() };
            if (import.module(), import.name()) != call::ABORT || !is_abort(&import.ty()) {
                return Err(refused());
            }
        }
        self.linker.instantiate_pre(&module).map_err(|e| Fault::Module(format!("{e:#}")))
    }
}

/// The type that AssemblyScript gives to its `abort`: message, file, line, column.
fn is_abort(ty: &ExternType) -> bool {
    let ExternType::Func(ty) = ty else { return false };
    ty.params().len() == 4 && ty.params().all(|ty| ty.is_i32()) && ty.results().len() == 0
}

/// Everything on that stops a module, everything off that a strategy has no use for.
fn config() -> Config {
    let mut config = Config::new();
    config.consume_fuel(true).epoch_interruption(true).max_wasm_stack(STACK);
    // The same input gives the same bytes on every machine.
    config.cranelift_nan_canonicalization(true).wasm_relaxed_simd(false);
    config.wasm_memory64(false).wasm_multi_memory(false).wasm_tail_call(false);
    // Modules come optimised; the less is done to them, the shorter a hostile one keeps the compiler busy.
    config.cranelift_opt_level(OptLevel::None);
    config
}
