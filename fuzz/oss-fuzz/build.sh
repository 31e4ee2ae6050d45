#!/bin/bash -eu
# Builds every fuzz target for a continuous job: the program, its seeds and its options, side by side in $OUT.
# OSS-Fuzz, ClusterFuzzLite and the rehearsal all run this.

cd "$SRC/chord-fuzz"

# The sanitizer is in RUSTFLAGS already, where the base image puts it.
cargo fuzz build --sanitizer none --no-trace-compares --features known

for target in $(cargo fuzz list); do
    # Others are not run by ClusterFuzz.
    [[ $target =~ ^[A-Za-z0-9_-]+$ ]] || { echo "$target is no name for a target"; exit 1; }
    cp "fuzz/target/$ARCHITECTURE-unknown-linux-gnu/release/$target" "$OUT/"
    zip -jqr "$OUT/${target}_seed_corpus.zip" "corpus/$target"
    cp fuzz/oss-fuzz/libfuzzer.options "$OUT/$target.options"
done
