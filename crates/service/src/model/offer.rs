//! What a new user can begin with. Figures only: the window says them in the user's language.

use crate::{DetectedServer, ModelOffer, OfferKind, Recommendation};
use evenkeel_domain::{ModelChoice, ModelInfo, ProviderId};

/// A size of models at four bits a weight: billions of weights from and to, gigabytes of the weights,
/// gigabytes of memory with the cache of a 16K window.
struct Size {
    billions: (u32, u32),
    weights: f64,
    memory: u32,
}

/// The largest first.
const SIZES: [Size; 5] = [
    Size { billions: (24, 32), weights: 20.0, memory: 24 },
    Size { billions: (12, 14), weights: 8.5, memory: 12 },
    Size { billions: (7, 8), weights: 4.9, memory: 7 },
    Size { billions: (3, 4), weights: 2.5, memory: 4 },
    Size { billions: (1, 2), weights: 1.2, memory: 2 },
];
/// Gigabytes of weights that a core reads in a second. Each token reads every weight once, so the
/// tokens in a second are about what the cores read divided by what there is to read. Ordinary
/// laptops read 5 to 8 GB/s with each core until their memory is the limit; this is the low end.
const CORE_READS: f64 = 5.0;
/// Tokens in a second below which a reply comes slower than people read it: about three words.
const READING_PACE: f64 = 4.0;

/// A server that runs already.
pub(super) fn server_offer(server: DetectedServer) -> ModelOffer {
    ModelOffer { name: server.name.clone(), server: Some(server), ..offer(OfferKind::LocalServer) }
}

/// A model file that is there.
pub(super) fn engine_offer(provider_id: ProviderId, model: ModelInfo) -> ModelOffer {
    ModelOffer {
        name: model.name.clone(),
        choice: Some(ModelChoice { provider_id, model: model.name.clone() }),
        for_trying_out: model.for_trying_out,
        model: Some(model),
        ..offer(OfferKind::BuiltIn)
    }
}

/// A provider elsewhere.
pub(super) fn cloud_offer() -> ModelOffer {
    offer(OfferKind::Cloud)
}

/// The size of models that this machine runs well.
pub(super) fn recommended() -> ModelOffer {
    let recommendation = fitting(available_memory() / 1_000_000_000, cores());
    let fits = recommendation.free_gigabytes >= recommendation.needs_gigabytes;
    ModelOffer { recommendation: Some(recommendation), fits, ..offer(OfferKind::Recommended) }
}

fn offer(kind: OfferKind) -> ModelOffer {
    ModelOffer {
        kind,
        name: String::new(),
        model: None,
        choice: None,
        server: None,
        recommendation: None,
        for_trying_out: false,
        fits: true,
    }
}

/// The largest size that free memory holds and that answers at the pace of reading, else the smallest.
fn fitting(free_gigabytes: u64, cores: usize) -> Recommendation {
    let free_gigabytes = u32::try_from(free_gigabytes).unwrap_or(u32::MAX);
    let pace = |size: &Size| cores as f64 * CORE_READS / size.weights;
    let fits = |size: &&Size| size.memory <= free_gigabytes && pace(size) >= READING_PACE;
    let [.., smallest] = &SIZES;
    let size = SIZES.iter().find(fits).unwrap_or(smallest);
    Recommendation {
        from_billions: size.billions.0,
        to_billions: size.billions.1,
        needs_gigabytes: size.memory,
        free_gigabytes,
        tokens_per_second: pace(size) as u32,
    }
}

/// Free memory in bytes; 0 where the system does not say.
fn available_memory() -> u64 {
    sysinfo::System::new().map_or(0, |mut system| {
        system.refresh_memory();
        system.available_memory()
    })
}

/// Cores that the engine may compute with.
fn cores() -> usize {
    let allowed = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    sysinfo::System::physical_core_count().ok().unwrap_or(allowed).clamp(1, allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn billions(gigabytes: u64, cores: usize) -> u32 {
        fitting(gigabytes, cores).to_billions
    }

    #[test]
    fn a_size_is_held_by_memory_and_by_cores() {
        assert_eq!([1, 2, 4, 8, 16].map(|cores| billions(64, cores)), [2, 4, 8, 14, 32]);
        assert_eq!([1, 4, 7, 12, 24].map(|gigabytes| billions(gigabytes, 16)), [2, 4, 8, 14, 32]);
        assert_eq!(billions(0, 0), 2);
    }

    #[test]
    fn what_is_said_of_a_size_is_what_was_reckoned_with() {
        let two_cores = fitting(32, 2);
        assert_eq!((two_cores.tokens_per_second, two_cores.free_gigabytes, two_cores.needs_gigabytes), (4, 32, 4));
    }
}
