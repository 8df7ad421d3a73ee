#![no_main]

use evenkeel_fuzz::{Reader, begin, feed};

libfuzzer_sys::fuzz_target!(init: begin(Reader::KeySlots), |input: &[u8]| feed(Reader::KeySlots, input));
