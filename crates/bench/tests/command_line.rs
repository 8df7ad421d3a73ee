//! The program as `scripts/bench` calls it.
//!
//! That this file exists is also what makes `cargo test --workspace --no-run` build the program.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::process::{Command, Output};

fn bench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_evenkeel-bench")).args(arguments).output().expect("the program starts")
}

#[test]
fn wrong_use_names_the_workloads_and_exits_with_2() {
    for wrong in [&[][..], &["no-such-workload"], &["engine", "--runs", "0"], &["store", "--messages", "10"]] {
        let answer = bench(wrong);
        assert_eq!(answer.status.code(), Some(2), "{wrong:?}");
        assert!(answer.stdout.is_empty(), "standard output belongs to the result");
        let said = String::from_utf8(answer.stderr).unwrap();
        assert!(said.contains("\n  engine  ") && said.contains("\n  store  "), "{wrong:?}");
    }
}
