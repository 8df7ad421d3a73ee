//! Limits on a module's functions, checked before it is compiled.
//!
//! A compilation cannot be stopped, and the time and memory it takes grow faster than the length of
//! a function: 500,000 bytes of empty loops in functions of 60,000 took 14 s and 1.1 GB on two cores. So
//! amounts of code that no sensible strategy has are refused beforehand.

use crate::Fault;

/// Most functions of a module.
pub const MAX_FUNCTIONS: u32 = 10_000;
/// Most bytes of one function.
pub const MAX_FUNCTION: u32 = 32 << 10;
/// Most bytes of all functions.
pub const MAX_CODE: u32 = 512 << 10;

/// Magic number and version of a core module.
const HEADER: &[u8] = b"\0asm\x01\0\0\0";
/// The section that holds the bodies of the functions.
const CODE: u8 = 10;

/// Refuses a module whose functions are too many or too long. A file that is no module passes: the
/// engine says better what is wrong with it.
pub(crate) fn check(wasm: &[u8]) -> Result<(), Fault> {
    let mut rest = wasm.strip_prefix(HEADER).unwrap_or_default();
    while let Some((id, section, after)) = section(rest) {
        if id == CODE {
            functions(section)?;
        }
        rest = after;
    }
    Ok(())
}

/// The next section: its id, its content, and what comes after it.
fn section(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (id, rest) = bytes.split_first()?;
    let (length, rest) = number(rest)?;
    let (content, after) = rest.split_at_checked(length as usize)?;
    Some((*id, content, after))
}

fn functions(section: &[u8]) -> Result<(), Fault> {
    if section.len() > MAX_CODE as usize {
        let bytes = section.len();
        return Err(Fault::Module(format!("it has {bytes} bytes of code, at most {MAX_CODE} are compiled; data may be larger")));
    }
    let Some((count, mut rest)) = number(section) else { return Ok(()) };
    if count > MAX_FUNCTIONS {
        return Err(Fault::Module(format!("it has {count} functions, at most {MAX_FUNCTIONS} are compiled")));
    }
    while let Some((length, body)) = number(rest) {
        if length > MAX_FUNCTION {
            return Err(Fault::Module(format!("one of its functions has {length} bytes, at most {MAX_FUNCTION} are compiled")));
        }
        rest = body.get(length as usize..).unwrap_or_default();
    }
    Ok(())
}

/// An unsigned number of up to 32 bits in LEB128, and what comes after it.
fn number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let mut value = 0u64;
    for (at, byte) in bytes.iter().take(5).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((u32::try_from(value).ok()?, &bytes[at + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn module(bodies: &[u32]) -> Vec<u8> {
        let mut section = leb(u32::try_from(bodies.len()).unwrap());
        for length in bodies {
            section.extend(leb(*length));
            section.resize(section.len() + *length as usize, 0);
        }
        let length = leb(u32::try_from(section.len()).unwrap());
        [HEADER, &[1, 2, 0xff, 0xff, CODE], &length, &section].concat()
    }

    fn leb(mut value: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        while value > 0x7f {
            bytes.push(u8::try_from(value & 0x7f).unwrap() | 0x80);
            value >>= 7;
        }
        bytes.push(u8::try_from(value).unwrap());
        bytes
    }

    #[test]
    fn functions_have_a_length_a_sum_and_a_number() {
        assert!(check(&module(&[3, MAX_FUNCTION, 3])).is_ok());
        assert!(matches!(check(&module(&[3, MAX_FUNCTION + 1])), Err(Fault::Module(_))));
        assert!(check(&module(&[30 << 10; 16])).is_ok());
        assert!(matches!(check(&module(&[MAX_FUNCTION; 16])), Err(Fault::Module(_))));
        assert!(check(&module(&vec![1; MAX_FUNCTIONS as usize])).is_ok());
        assert!(matches!(check(&module(&vec![1; MAX_FUNCTIONS as usize + 1])), Err(Fault::Module(_))));
    }

    proptest! {
        #[test]
        fn numbers_are_read_as_written(value in any::<u32>(), after in any::<Vec<u8>>()) {
            let bytes = [leb(value), after.clone()].concat();
            prop_assert_eq!(number(&bytes), Some((value, &after[..])));
        }

        #[test]
        fn bytes_of_any_kind_are_passed_over(bytes in any::<Vec<u8>>()) {
            prop_assert!(check(&[HEADER, &bytes].concat()).is_ok() || bytes.contains(&CODE));
        }
    }
}
