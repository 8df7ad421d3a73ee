//! The same program for the consoles of Windows, where one with windows prints nothing.

use std::process::ExitCode;

fn main() -> ExitCode {
    evenkeel_lib::main()
}
