//! The one binary of Evenkeel: the window, quick chat, the command line, the server for other programs, and the engine's
//! child process.

#![cfg_attr(all(not(debug_assertions), target_os = "windows"), windows_subsystem = "windows")]

use std::process::ExitCode;

fn main() -> ExitCode {
    evenkeel_lib::main()
}
