#![no_main]

use evenkeel_fuzz::{Reader, begin, feed};

libfuzzer_sys::fuzz_target!(init: begin(Reader::RecoveryCode), |input: &[u8]| feed(Reader::RecoveryCode, input));
