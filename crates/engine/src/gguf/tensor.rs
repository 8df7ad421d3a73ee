//! How many bytes the weights of a tensor take.
//!
//! Source of the sizes: `ggml_type` in ggml's `ggml.h` and the structs of `ggml-common.h`.

/// Weights in one block and the bytes that it takes, for a type that ggml knows.
fn block(kind: u32) -> Option<(u64, u64)> {
    Some(match kind {
        // Plain numbers: I8; F16, I16, BF16; F32, I32; I64, F64.
        24 => (1, 1),
        1 | 25 | 30 => (1, 2),
        0 | 26 => (1, 4),
        27 | 28 => (1, 8),
        // Q4_0 and IQ4_NL, Q4_1, Q5_0, Q5_1, Q8_0, Q8_1.
        2 | 20 => (32, 18),
        3 => (32, 20),
        6 => (32, 22),
        7 => (32, 24),
        8 => (32, 34),
        9 => (32, 36),
        // Q2_K to Q8_K.
        10 => (256, 84),
        11 => (256, 110),
        12 => (256, 144),
        13 => (256, 176),
        14 => (256, 210),
        15 => (256, 292),
        // IQ2_XXS, IQ2_XS, IQ3_XXS, IQ1_S, IQ3_S, IQ2_S, IQ4_XS, IQ1_M.
        16 => (256, 66),
        17 => (256, 74),
        18 => (256, 98),
        19 => (256, 50),
        21 => (256, 110),
        22 => (256, 82),
        23 => (256, 136),
        29 => (256, 56),
        // TQ1_0, TQ2_0, MXFP4, NVFP4, Q1_0, Q2_0.
        34 => (256, 54),
        35 => (256, 66),
        39 => (32, 17),
        40 => (64, 36),
        41 => (128, 18),
        42 => (64, 18),
        _ => return None,
    })
}

/// What is wrong with a tensor's shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Impossible;

/// Bytes of a tensor of this type and shape; 1 for a type that is not known, whose size nobody can
/// tell: such a file is left to llama.cpp.
pub(super) fn size(kind: u32, shape: &[u64]) -> Result<u64, Impossible> {
    let weights = shape.iter().try_fold(1_u64, |product, length| product.checked_mul(*length)).ok_or(Impossible)?;
    let Some((per_block, bytes)) = block(kind) else { return Ok(1) };
    // A row begins with a block of its own.
    if !shape.first().copied().unwrap_or(1).is_multiple_of(per_block) {
        return Err(Impossible);
    }
    (weights / per_block).checked_mul(bytes).ok_or(Impossible)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_whole_blocks() {
        assert_eq!(size(0, &[576]), Ok(2304));
        assert_eq!(size(3, &[576, 49_152]), Ok(576 * 49_152 / 32 * 20));
        assert_eq!(size(14, &[256, 2, 1, 3]), Ok(6 * 210));
        assert_eq!(size(0, &[]), Ok(4));
    }

    #[test]
    fn what_no_memory_holds_or_no_block_divides_is_impossible() {
        assert_eq!(size(0, &[u64::MAX, 2]), Err(Impossible));
        assert_eq!(size(27, &[u64::MAX]), Err(Impossible));
        assert_eq!(size(3, &[33, 32]), Err(Impossible));
    }

    #[test]
    fn a_type_that_is_not_known_is_passed_over() {
        assert_eq!(size(999, &[7, 7]), Ok(1));
    }
}
