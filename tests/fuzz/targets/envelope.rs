#![no_main]

use evenkeel_fuzz::{Reader, begin, feed};

libfuzzer_sys::fuzz_target!(init: begin(Reader::Envelope), |input: &[u8]| feed(Reader::Envelope, input));
