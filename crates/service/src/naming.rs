//! Names for copies.

/// The most characters of a name.
const LONGEST: usize = 120;

/// The name of a copy: `NAME (2)`, or the next number that is free.
pub(crate) fn copy_name(name: &str, taken: &[String]) -> String {
    let base = original(name);
    let mut number = 2_u32;
    loop {
        let ending = format!(" ({number})");
        let room = LONGEST - ending.len();
        let copy = format!("{}{ending}", base.chars().take(room).collect::<String>().trim_end());
        if !taken.contains(&copy) {
            return copy;
        }
        number += 1;
    }
}

/// The name without the number of a copy.
pub(crate) fn original(name: &str) -> &str {
    let inner = name.strip_suffix(')').and_then(|rest| rest.rsplit_once(" ("));
    match inner {
        Some((base, number)) if !base.trim().is_empty() && number.len() <= 6 && number.parse::<u32>().is_ok() => base,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn copies_are_numbered_from_two() {
        let taken = ["Mara", "Mara (2)", "Mara (3)"].map(str::to_owned);
        assert_eq!(copy_name("Mara", &[]), "Mara (2)");
        assert_eq!(copy_name("Mara", &taken), "Mara (4)");
        assert_eq!(copy_name("Mara (2)", &taken), "Mara (4)");
        assert_eq!(copy_name("Mara (old)", &taken), "Mara (old) (2)");
        assert_eq!(copy_name(" (2)", &taken), " (2) (2)");
    }

    proptest! {
        #[test]
        fn a_copy_has_a_free_name_in_its_range(name in "\\PC{1,120}", others in 0_u32..5) {
            let mut taken = vec![name.clone()];
            for _ in 0..others {
                taken.push(copy_name(&name, &taken));
            }
            let copy = copy_name(&name, &taken);
            prop_assert!(!taken.contains(&copy));
            prop_assert!((1..=LONGEST).contains(&copy.chars().count()));
        }
    }
}
