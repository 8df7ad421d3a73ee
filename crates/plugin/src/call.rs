//! One call of a plug-in: an instance of its own, the limits, and a check of every place it names.

use crate::host::Core;
use crate::ticker::{Running, Ticker};
use crate::{Fault, Limits, MAX_INPUT, MAX_OUTPUT};
use wasmtime::{Engine, Instance, InstancePre, Linker, ResourceLimiter, Store, Trap, TypedFunc, WasmParams, WasmResults};

/// The one function that a module may import; AssemblyScript calls it to give up.
pub(crate) const ABORT: (&str, &str) = ("env", "abort");
/// The exports of the interface.
const MEMORY: &str = "memory";
const VERSION: &str = "ek_abi";
const ALLOC: &str = "ek_alloc";
pub(crate) const COMPOSE: &str = "ek_compose";
pub(crate) const TURN_COMPLETE: &str = "ek_turn_complete";
/// How the allocator is declared.
const ALLOCATING: &str = "a function (i32) -> i32";
/// How the functions that answer are declared.
const ANSWERING: &str = "a function (i32, i32) -> i64";

const NO_MEMORY: Fault = Fault::Export { name: MEMORY, wanted: "a memory" };

/// Holds an instance to its memory.
pub(crate) struct Guard {
    memory: usize,
    table: usize,
}

/// Why an instance was stopped, carried through the engine's errors.
#[derive(Debug, Clone, Copy, thiserror::Error)]
enum Stopped {
    #[error("memory of {0} bytes")]
    Memory(usize),
    #[error("a table of {0} entries")]
    Table(usize),
    #[error("abort at {0}:{1}")]
    Abort(i32, i32),
}

impl ResourceLimiter for Guard {
    fn memory_growing(&mut self, _: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        if desired > self.memory {
            return Err(Stopped::Memory(desired).into());
        }
        Ok(maximum.is_none_or(|maximum| desired <= maximum))
    }

    fn table_growing(&mut self, _: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        if desired > self.table {
            return Err(Stopped::Table(desired).into());
        }
        Ok(maximum.is_none_or(|maximum| desired <= maximum))
    }

    fn instances(&self) -> usize {
        1
    }

    fn memories(&self) -> usize {
        1
    }

    fn tables(&self) -> usize {
        16
    }
}

/// Everything a module may import.
pub(crate) fn linker(engine: &Engine) -> wasmtime::Result<Linker<Guard>> {
    let mut linker = Linker::new(engine);
    let abort = |_: i32, _: i32, line: i32, column: i32| -> wasmtime::Result<()> { Err(Stopped::Abort(line, column).into()) };
    linker.func_wrap(ABORT.0, ABORT.1, abort)?;
    Ok(linker)
}

/// Calls `ek_abi`.
pub(crate) fn version(core: &Core, code: &InstancePre<Guard>) -> Result<i32, Fault> {
    let mut call = Call::begin(core, code)?;
    let version = call.function::<(), i32>(VERSION, "a function () -> i32")?;
    version.call(&mut call.store, ()).map_err(|e| stopped(&e, &core.limits))
}

/// Checks that everything is exported as the interface wants it, and says whether the module wants
/// to be told of completed turns.
pub(crate) fn interface(core: &Core, code: &InstancePre<Guard>) -> Result<bool, Fault> {
    let mut call = Call::begin(core, code)?;
    call.instance.get_memory(&mut call.store, MEMORY).ok_or(NO_MEMORY)?;
    call.function::<u32, u32>(ALLOC, ALLOCATING)?;
    call.function::<(u32, u32), u64>(COMPOSE, ANSWERING)?;
    let turns = call.instance.get_export(&mut call.store, TURN_COMPLETE).is_some();
    if turns {
        call.function::<(u32, u32), u64>(TURN_COMPLETE, ANSWERING)?;
    }
    Ok(turns)
}

/// Hands `input` to the function `export` and returns what it answers.
pub(crate) fn answer(core: &Core, code: &InstancePre<Guard>, export: &'static str, input: &[u8]) -> Result<Vec<u8>, Fault> {
    let too_large = || Fault::InputTooLarge { bytes: input.len(), most: MAX_INPUT };
    let length = u32::try_from(input.len()).ok().filter(|_| input.len() <= MAX_INPUT).ok_or_else(too_large)?;
    let mut call = Call::begin(core, code)?;
    let alloc = call.function::<u32, u32>(ALLOC, ALLOCATING)?;
    let function = call.function::<(u32, u32), u64>(export, ANSWERING)?;
    let failed = |e: wasmtime::Error| stopped(&e, &core.limits);
    let pointer = alloc.call(&mut call.store, length).map_err(failed)?;
    call.place(ALLOC, pointer, length)?.copy_from_slice(input);
    let packed = function.call(&mut call.store, (pointer, length)).map_err(failed)?;
    let (pointer, length) = unpack(packed);
    if length as usize > MAX_OUTPUT {
        return Err(Fault::OutputTooLarge { export, bytes: length as usize, most: MAX_OUTPUT });
    }
    call.place(export, pointer, length).map(|answer| answer.to_vec())
}

/// An instance that serves one call and is thrown away, so that nothing is kept in its memory.
struct Call<'a> {
    store: Store<Guard>,
    instance: Instance,
    /// Time passes while it lives.
    _running: Running<'a>,
}

impl<'a> Call<'a> {
    /// Makes the instance, with all limits in force for its start function already.
    fn begin(core: &'a Core, code: &InstancePre<Guard>) -> Result<Self, Fault> {
        let limits = &core.limits;
        let _running = core.ticker.run();
        let mut store = Store::new(&core.engine, Guard { memory: limits.memory, table: limits.table });
        store.limiter(|guard| guard);
        store.set_epoch_deadline(Ticker::ticks(limits.deadline));
        let ready = store.set_fuel(limits.fuel).and_then(|()| code.instantiate(&mut store));
        let instance = ready.map_err(|e| stopped(&e, limits))?;
        Ok(Self { store, instance, _running })
    }

    fn function<P: WasmParams, R: WasmResults>(
        &mut self,
        name: &'static str,
        wanted: &'static str,
    ) -> Result<TypedFunc<P, R>, Fault> {
        self.instance.get_typed_func(&mut self.store, name).map_err(|_| Fault::Export { name, wanted })
    }

    /// The place in the instance's memory that `export` named.
    fn place(&mut self, export: &'static str, pointer: u32, length: u32) -> Result<&mut [u8], Fault> {
        let memory = self.instance.get_memory(&mut self.store, MEMORY).ok_or(NO_MEMORY)?;
        let bytes = memory.data_mut(&mut self.store);
        let outside = Fault::OutOfMemory { export, pointer, length, memory: bytes.len() };
        let start = pointer as usize;
        // Zero is how an allocator says that it has no more.
        let end = start.checked_add(length as usize).filter(|_| start > 0);
        end.and_then(|end| bytes.get_mut(start..end)).ok_or(outside)
    }
}

/// Pointer and length, packed into one number.
fn unpack(packed: u64) -> (u32, u32) {
    let [a, b, c, d, e, f, g, h] = packed.to_be_bytes();
    (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]))
}

/// What an error of the engine means.
fn stopped(error: &wasmtime::Error, limits: &Limits) -> Fault {
    let bytes = |size: usize| u64::try_from(size).unwrap_or(u64::MAX);
    match error.downcast_ref::<Stopped>() {
        Some(Stopped::Memory(wanted)) => return Fault::Memory { wanted: bytes(*wanted), most: bytes(limits.memory) },
        Some(Stopped::Table(wanted)) => return Fault::Table { wanted: bytes(*wanted), most: bytes(limits.table) },
        Some(Stopped::Abort(line, column)) => return Fault::Abort { line: *line, column: *column },
        None => {}
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => Fault::Fuel(limits.fuel),
        Some(Trap::Interrupt) => Fault::Deadline(u64::try_from(limits.deadline.as_millis()).unwrap_or(u64::MAX)),
        Some(Trap::StackOverflow) => Fault::Stack,
        Some(trap) => Fault::Trap(trap.to_string()),
        None => Fault::Trap(format!("{error:#}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pointer_is_the_upper_half() {
        assert_eq!(unpack(0x0001_0000_0000_0020), (0x1_0000, 0x20));
        assert_eq!(unpack(u64::MAX), (u32::MAX, u32::MAX));
    }
}
