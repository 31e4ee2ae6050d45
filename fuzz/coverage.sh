#!/usr/bin/env bash
# What of the library the corpus reaches: `fuzz/coverage.sh [TARGET...]`, all targets by default. Prints a table of the
# rooms that a fuzz target runs. With HTML=DIR, every line of them is shown in DIR.
#
# It needs LLVM tools that read what rustc writes. Those of `rustup component add llvm-tools` do, and distributions' from
# LLVM 19 on; LLVM_BIN names their directory.
set -eu
cd "$(dirname "$0")/.."

# What a target runs. The rest of the library tells of runs, searches, or shrinks, and is tested, not fuzzed.
rooms='src/((judge|protocol|truth|world)/[a-z0-9]+|schedule/(mod|mutate)|search/(fuzzing|novelty))\.rs$'

host=$(rustc -vV | sed -n 's/^host: //p')
reads() { "$1/llvm-profdata" --version >/dev/null 2>&1 && [ "$("$1/llvm-profdata" --version | sed -n 's/.*LLVM version \([0-9]*\).*/\1/p')" -ge 19 ]; }
for bin in ${LLVM_BIN:+"$LLVM_BIN"} "$(rustc --print sysroot)/lib/rustlib/$host/bin" $(ls -d /usr/lib/llvm-*/bin 2>/dev/null | sort -rV) ''; do
    [ -n "$bin" ] || { echo "coverage.sh: no LLVM tools from version 19 on: rustup component add llvm-tools, or set LLVM_BIN" >&2; exit 2; }
    reads "$bin" && break
done

targets=${*:-$(cargo fuzz list)}
profiles=()
objects=()
for target in $targets; do
    log=$(mktemp)
    cargo fuzz coverage --sanitizer none --llvm-path "$bin" "$target" "corpus/$target" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
    rm "$log"
    profiles+=("fuzz/coverage/$target/coverage.profdata")
    program=target/$host/coverage/$host/release/$target
    objects+=(-object "$program")
done
"$bin/llvm-profdata" merge -sparse "${profiles[@]}" -o fuzz/coverage/all.profdata
sources=$(find src -name '*.rs' | grep -E "$rooms" | sed "s|^|$PWD/|")
"$bin/llvm-cov" report "$program" "${objects[@]}" -instr-profile fuzz/coverage/all.profdata $sources
if [ -n "${HTML:-}" ]; then
    "$bin/llvm-cov" show "$program" "${objects[@]}" -instr-profile fuzz/coverage/all.profdata -format html -output-dir "$HTML" $sources
fi
