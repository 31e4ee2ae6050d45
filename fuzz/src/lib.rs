//! The glue between libFuzzer and the library, the same for every target.

/// Defines the fuzz target of a type that is [`Fuzzed`](chord_fuzz::search::fuzzing::Fuzzed).
#[macro_export]
macro_rules! target {
    ($target:ty) => {
        use libfuzzer_sys::{Corpus, fuzz_crossover, fuzz_mutator, fuzz_target, fuzzer_mutate};

        fuzz_target!(|input: chord_fuzz::search::fuzzing::Input<'_, $target>| -> Corpus {
            if input.check() { Corpus::Keep } else { Corpus::Reject }
        });
        fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
            chord_fuzz::search::fuzzing::mutate(data, size, max_size, seed, fuzzer_mutate)
        });
        fuzz_crossover!(|first: &[u8], second: &[u8], out: &mut [u8], seed: u32| {
            chord_fuzz::search::fuzzing::cross_over(first, second, out, seed)
        });
    };
}
