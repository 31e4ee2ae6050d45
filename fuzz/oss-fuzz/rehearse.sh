#!/usr/bin/env bash
# Rehearses a continuous job without Docker: runs build.sh as OSS-Fuzz's base image runs it, moves what it has built
# elsewhere, and checks there what OSS-Fuzz's bad_build_check looks at; besides, that known findings pass, and that
# every other one crashes in a state of its own. The last line is `N passed, N failed`.
#
#     fuzz/oss-fuzz/rehearse.sh [EXECUTIONS]
#
# EXECUTIONS is how often each target is run from an empty corpus, 20000 unless given. The sanitizer is `none`, for which
# stable Rust suffices. OSS-Fuzz's own is `SANITIZER=address RUSTUP_TOOLCHAIN=nightly fuzz/oss-fuzz/rehearse.sh`.
#
# What differs from the image: Rust, cargo-fuzz and the symbolizer are those of this machine, and libFuzzer is what
# libfuzzer-sys compiles, instead of clang's.
set -u

executions=${1:-20000}
root=$(cd "$(dirname "$0")/../.." && pwd -P) || exit 1
# Somebody's path has a space.
scratch=$(mktemp -d "${TMPDIR:-/tmp}/oss fuzz.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
unset "${!CHORD_FUZZ_@}"

passed=0
failed=0
check() { # check NAME COMMAND...
    local name=$1
    shift
    echo "== $name"
    if "$@"; then
        passed=$((passed + 1))
    else
        echo "== FAILED: $name"
        tail -n 40 "$scratch/log"
        failed=$((failed + 1))
    fi
}

build() {
    export SRC=$scratch/src OUT=$scratch/out WORK=$scratch/work
    export FUZZING_ENGINE=libfuzzer FUZZING_LANGUAGE=rust SANITIZER=${SANITIZER:-none} ARCHITECTURE
    ARCHITECTURE=$(uname -m)
    export RUSTFLAGS="--cfg fuzzing -Cdebuginfo=1 -Cforce-frame-pointers"
    [ "$SANITIZER" = none ] || RUSTFLAGS="$RUSTFLAGS -Zsanitizer=$SANITIZER"
    mkdir "$SRC" "$OUT" "$WORK" && ln -s "$root" "$SRC/chord-fuzz" && cp "$root/fuzz/oss-fuzz/build.sh" "$SRC/" || return 1
    bash -eux "$SRC/build.sh" >"$scratch/log" 2>&1
}

# A target, its seeds and its options for every target of cargo-fuzz, and nothing else. Then no file is where it was built.
complete() {
    local target
    for target in $targets; do
        printf '%s\n' "$target" "$target.options" "${target}_seed_corpus.zip"
    done | sort | diff - <(ls "$scratch/out" | sort) >"$scratch/log" && mv "$scratch/out" "$scratch/elsewhere"
}

# run TARGET ARGUMENT...: as base-runner's run_fuzzer runs it, with its options.
run() {
    local target=$1 options
    shift
    mapfile -t options < <(sed -n 's/^\([a-z_]*\) *= *\(.*\)$/-\1=\2/p' "$scratch/elsewhere/$target.options")
    "$scratch/elsewhere/$target" -artifact_prefix="$scratch/" "$@" "${options[@]}" >"$scratch/log" 2>&1 </dev/null
}

known_of() {
    grep "^$1/" "$root/artifacts/known.txt"
}

# Starts, is instrumented, and knows its options.
starts() {
    run "$1" -seed=1337 -runs=4 && grep -q "Done 4 runs" "$scratch/log" || return 1
    ! grep -q "unrecognized flag" "$scratch/log" || return 1
    [ "$(grep -Po '^INFO: Loaded .*inline 8-bit counters\): \K\d+' "$scratch/log")" -ge 100 ]
}

# The seeds are those of corpus/, and none violates anything, known or not.
runs_its_seeds() {
    unzip -q -d "$scratch/seeds-$1" "$scratch/elsewhere/${1}_seed_corpus.zip" || return 1
    diff -r "$scratch/seeds-$1" "$root/corpus/$1" >"$scratch/log" || return 1
    run "$1" -runs=0 "$scratch/seeds-$1" && ! grep "^KNOWN:" "$scratch/log"
}

runs_from_nothing() {
    mkdir "$scratch/empty-$1" && run "$1" -seed=1 -runs="$executions" "$scratch/empty-$1" || return 1
    grep "^Done\|^KNOWN:" "$scratch/log"
}

# Each known finding passes and is counted; pinned, it crashes with its signature, in a place of its own.
tells_findings_apart() {
    local signature breach file place places=
    while read -r signature; do
        breach=${signature#*/}
        file=$root/artifacts/$1/$(sed 's/[A-Z]/-\L&/g; s/^-//' <<<"$breach")
        run "$1" "$file" || return 1
        # On the way `claims` does not judge what is known.
        [ "$1" = claims ] || grep -qx "KNOWN: $signature 1" "$scratch/log" || return 1
        CHORD_FUZZ_ONLY=$breach run "$1" "$file" && return 1
        grep -qx "DEDUP_TOKEN: $1--$breach" "$scratch/log" && place=$(grep -Po "panicked at \K.*" "$scratch/log") || return 1
        [[ $places != *"$place"* ]] || { echo "$signature crashes where another finding does"; return 1; }
        places+=" $place"
        echo "$signature $place"
    done < <(known_of "$1")
}

# Without the rule of Zave's first fix `ccr2012` breaks as `sigcomm2001` does, which under its name nobody knows.
crashes_at_the_unknown() {
    CHORD_FUZZ_SWITCHES=-adopt run ccr2012 "$root/artifacts/sigcomm2001/at-least-one-ring" && return 1
    grep -x "DEDUP_TOKEN: ccr2012-adopt--AtLeastOneRing" "$scratch/log"
}

cd "$root" || exit 1
targets=$(cargo fuzz list) || exit 1
: >"$scratch/log"
check "build.sh builds" build
check "build.sh is complete" complete
for target in $targets; do
    check "$target starts" starts "$target"
    check "$target runs its seeds" runs_its_seeds "$target"
    check "$target runs from nothing" runs_from_nothing "$target"
    known_of "$target" >/dev/null && check "$target tells findings apart" tells_findings_apart "$target"
done
check "what is unknown crashes" crashes_at_the_unknown

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
