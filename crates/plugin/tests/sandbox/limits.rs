//! What a plug-in does at a call, and that its host stays usable.

use crate::{ALLOC, FIRST, MEMORY, VERSION, ask, composing, fault, load};
use evenkeel_plugin::{Fault, Host, Limits, MAX_INPUT, MAX_OUTPUT, TurnInput};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const LOOP: &str = "(loop (br 0)) (unreachable)";

/// The fault of a call, which has to come within a second; a good plug-in then still answers.
fn fails(host: &Host, wat: &str) -> Fault {
    let plugin = load(host, wat).unwrap();
    let started = Instant::now();
    let fault = fault(ask(&plugin, 3));
    assert!(started.elapsed() < Duration::from_secs(1), "{fault} took {:?}", started.elapsed());
    assert_eq!(ask(&load(host, &composing(FIRST)).unwrap(), 3).unwrap().first, 0);
    fault
}

fn host_without_fuel_limit() -> Host {
    Host::with_limits(Limits { fuel: u64::MAX, ..Limits::default() }).unwrap()
}

fn host_without_deadline() -> Host {
    Host::with_limits(Limits { deadline: Duration::from_secs(600), fuel: 10_000_000, ..Limits::default() }).unwrap()
}

#[test]
fn a_loop_is_stopped_by_whichever_limit_comes_first() {
    let stopped = fails(&Host::new().unwrap(), &composing(LOOP));
    assert!(matches!(stopped, Fault::Fuel(250_000_000) | Fault::Deadline(200)), "{stopped}");
}

#[test]
fn a_loop_is_stopped_by_its_instructions() {
    assert!(matches!(fails(&host_without_deadline(), &composing(LOOP)), Fault::Fuel(10_000_000)));
}

#[test]
fn a_loop_is_stopped_by_time() {
    let host = host_without_fuel_limit();
    assert!(matches!(fails(&host, &composing(LOOP)), Fault::Deadline(200)));
    // Few instructions, each of which takes long.
    let filling = "(drop (memory.grow (i32.const 1000))) (loop (memory.fill (i32.const 0) (i32.const 1) (i32.const 60000000)) (br 0)) (unreachable)";
    assert!(matches!(fails(&host, &composing(filling)), Fault::Deadline(200)));
}

#[test]
fn a_loop_in_any_function_is_stopped() {
    let host = Host::new().unwrap();
    let compose = format!(r#"(func (export "ek_compose") (param i32 i32) (result i64) {FIRST})"#);
    let alloc = format!(r#"(func (export "ek_alloc") (param i32) (result i32) {LOOP})"#);
    let is_stopped = |fault: Fault| matches!(fault, Fault::Fuel(_) | Fault::Deadline(_));
    assert!(is_stopped(fails(&host, &format!("(module {MEMORY} {VERSION} {alloc} {compose})"))));
    let version = format!(r#"(func (export "ek_abi") (result i32) {LOOP})"#);
    assert!(is_stopped(fault(load(&host, &format!("(module {MEMORY} {version} {ALLOC} {compose})")))));
    let start = "(func $start (loop (br 0))) (start $start)";
    assert!(is_stopped(fault(load(&host, &format!("(module {MEMORY} {VERSION} {ALLOC} {compose} {start})")))));
}

#[test]
fn four_gigabytes_are_refused() {
    let host = Host::new().unwrap();
    let at_once = fails(&host, &composing("(drop (memory.grow (i32.const 65535))) (i64.const 0)"));
    assert!(matches!(at_once, Fault::Memory { wanted: 4_294_967_296, most: 67_108_864 }), "{at_once}");
    let piecemeal = fails(&host, &composing("(loop (drop (memory.grow (i32.const 16))) (br 0)) (unreachable)"));
    assert!(matches!(piecemeal, Fault::Memory { most: 67_108_864, .. }), "{piecemeal}");
    let from_the_start = format!(r#"(module (memory (export "memory") 1025) {VERSION} {ALLOC})"#);
    assert!(matches!(fault(load(&host, &from_the_start)), Fault::Memory { wanted: 67_174_400, .. }));
    let table = format!("(module {MEMORY} {VERSION} {ALLOC} (table 65537 funcref))");
    assert!(matches!(fault(load(&host, &table)), Fault::Table { wanted: 65_537, most: 65_536 }));
}

#[test]
fn memory_up_to_the_limit_is_given() {
    let all = composing(&format!("(if (i32.ne (memory.grow (i32.const 1023)) (i32.const 1)) (then unreachable)) {FIRST}"));
    assert_eq!(ask(&load(&Host::new().unwrap(), &all).unwrap(), 3).unwrap().first, 0);
}

#[test]
fn traps_are_told() {
    let host = Host::new().unwrap();
    for (body, told) in [
        ("unreachable", "unreachable"),
        ("(i64.div_u (i64.const 1) (i64.const 0))", "divide by zero"),
        ("(i64.load (i32.const -8))", "out of bounds"),
        ("(i64.trunc_f64_s (f64.const nan))", "invalid conversion"),
    ] {
        let fault = fails(&host, &composing(body));
        assert!(matches!(&fault, Fault::Trap(text) if text.contains(told)), "{fault}");
    }
}

#[test]
fn deep_calls_are_stopped() {
    let deep = composing("(call $deep) (i64.const 0)").replace("(module ", "(module (func $deep (call $deep) (call $deep)) ");
    assert!(matches!(fails(&Host::new().unwrap(), &deep), Fault::Stack));
}

#[test]
fn giving_up_is_told_with_its_line() {
    let body = "(call $abort (i32.const 0) (i32.const 0) (i32.const 12) (i32.const 5)) (i64.const 0)";
    let aborting =
        composing(body).replace("(module ", r#"(module (import "env" "abort" (func $abort (param i32 i32 i32 i32))) "#);
    assert!(matches!(fails(&Host::new().unwrap(), &aborting), Fault::Abort { line: 12, column: 5 }));
}

#[test]
fn places_outside_its_memory_are_refused() {
    let host = Host::new().unwrap();
    for (pointer, length) in [(0u64, 11u64), (65_536, 1), (65_530, 11), (0xffff_ffff, 1), (0xffff_ffff, 0xf_ffff), (70_000, 0)] {
        let fault = fails(&host, &composing(&format!("(i64.const {})", pointer << 32 | length)));
        assert!(matches!(fault, Fault::OutOfMemory { export: "ek_compose", memory: 65_536, .. }), "{pointer} {length}: {fault}");
    }
    for pointer in [0u32, 65_500, 0xffff_ffff] {
        let alloc = format!(r#"(func (export "ek_alloc") (param i32) (result i32) (i32.const {pointer}))"#);
        let fault = fails(&host, &composing(FIRST).replace(ALLOC, &alloc));
        assert!(matches!(fault, Fault::OutOfMemory { export: "ek_alloc", .. }), "{pointer}: {fault}");
    }
}

#[test]
fn long_answers_are_refused() {
    let host = Host::new().unwrap();
    for length in [MAX_OUTPUT as u64 + 1, 0xffff_ffff] {
        let fault = fails(&host, &composing(&format!("(i64.const {})", 16u64 << 32 | length)));
        assert!(matches!(fault, Fault::OutputTooLarge { most: MAX_OUTPUT, .. }), "{fault}");
    }
    let spaces =
        format!("(drop (memory.grow (i32.const 32))) (memory.fill (i32.const 27) (i32.const 32) (i32.const 1048565)) {FIRST}");
    let longest = composing(&spaces.replace("0x100000000b", &(16u64 << 32 | MAX_OUTPUT as u64).to_string()));
    assert_eq!(ask(&load(&host, &longest).unwrap(), 3).unwrap().first, 0);
}

#[test]
fn answers_that_mean_nothing_are_refused() {
    let host = Host::new().unwrap();
    for garbage in ["", "{", "\\ff\\fe", "[0]", "{}", "{\\\"first\\\":\\\"0\\\"}", "null"] {
        let wat =
            composing(&format!("(i64.const {})", 16u64 << 32 | unescaped(garbage) as u64)).replace("{\\\"first\\\":0}", garbage);
        let fault = fails(&host, &wat);
        assert!(matches!(fault, Fault::Answer { export: "ek_compose", .. }), "{garbage}: {fault}");
    }
    let beyond = composing(FIRST).replace(":0}", ":4}");
    assert!(matches!(fails(&host, &beyond), Fault::First { first: 4, exchanges: 3 }));
}

/// Bytes of a text with the escapes of the module's text.
fn unescaped(text: &str) -> usize {
    text.replace("\\\"", "\"").replace("\\ff", "x").replace("\\fe", "x").len()
}

#[test]
fn nothing_is_kept_in_memory_from_call_to_call() {
    // Counts its calls in a global and in memory, and answers with the number.
    let body = format!(
        "(global.set $calls (i32.add (global.get $calls) (i32.const 1)))
         (i32.store8 (i32.const 25) (i32.add (i32.load8_u (i32.const 25)) (global.get $calls))) {FIRST}"
    );
    let counting = composing(&body).replace("(module ", "(module (global $calls (mut i32) (i32.const 0)) ");
    let plugin = load(&Host::new().unwrap(), &counting).unwrap();
    for _ in 0..3 {
        assert_eq!(ask(&plugin, 3).unwrap().first, 1);
    }
}

/// Tells of a turn; the plug-in answers with what it was told, which has a `state`.
const ECHO: &str = r#"(func (export "ek_turn_complete") (param i32 i32) (result i64)
    (i64.or (i64.shl (i64.extend_i32_u (local.get 0)) (i64.const 32)) (i64.extend_i32_u (local.get 1))))"#;

#[test]
fn a_state_comes_back_as_it_was_given() {
    let host = Host::new().unwrap();
    let echo = load(&host, &composing(FIRST).replace("(module ", &format!("(module {ECHO} "))).unwrap();
    let state = json!({ "seen": [1, 2.5, null, "ä 😀 \"\\\n"], "deep": { "er": true } });
    let turn = TurnInput { config: &json!({}), state: Some(&state), user_text: "Hello", reply: "Good day" };
    assert_eq!(echo.turn_complete(&turn).unwrap().unwrap().state, state);
    let long = "x".repeat(70_000);
    let long = TurnInput { user_text: &long, ..turn.clone() };
    assert!(matches!(fault(echo.turn_complete(&long)), Fault::OutOfMemory { export: "ek_alloc", .. }));
    let silent = load(&host, &composing(FIRST)).unwrap();
    assert_eq!(silent.turn_complete(&turn).unwrap(), None);
}

#[test]
fn a_conversation_that_is_too_long_is_not_handed_over() {
    let plugin = load(&Host::new().unwrap(), &composing(FIRST).replace("(module ", &format!("(module {ECHO} "))).unwrap();
    let reply = "x".repeat(MAX_INPUT);
    let turn = TurnInput { config: &Value::Null, state: None, user_text: "", reply: &reply };
    assert!(matches!(fault(plugin.turn_complete(&turn)), Fault::InputTooLarge { most: MAX_INPUT, .. }));
}

#[test]
fn plug_ins_do_not_wait_for_each_other() {
    let host = host_without_fuel_limit();
    let (good, looping) = (load(&host, &composing(FIRST)).unwrap(), load(&host, &composing(LOOP)).unwrap());
    // They live on without it.
    drop(host);
    std::thread::scope(|scope| {
        let stopped: Vec<_> = (0..4).map(|_| scope.spawn(|| fault(ask(&looping, 1)))).collect();
        for _ in 0..200 {
            assert_eq!(ask(&good, 1).unwrap().first, 0);
        }
        for thread in stopped {
            assert!(matches!(thread.join().unwrap(), Fault::Deadline(200)));
        }
    });
}
