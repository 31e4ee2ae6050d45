#!/usr/bin/env bash
# A long campaign on this machine: `fuzz/campaign.sh TARGET DIR [EXECUTIONS]`, 100 million by default, on all processors
# (JOBS=N: on N). Known findings pass; only what artifacts/known.txt does not name is a crash.
#
#   DIR/corpus    all inputs that have reached anything new; it only grows
#   DIR/minimal   as many of them as reach the same
#   DIR/crashes   what crashed
#   DIR/log       what libFuzzer said, of all calls
#   DIR/report    executions, signatures of the crashes, what the corpus reaches; DIR/speed.svg is the plot
#
# It may be killed at any time, by whatever: call it again, and it goes on. What the killed jobs had found is still in
# DIR/tmp, and comes into the corpus first. A full disk ends it. Exit status: 0 if nothing crashed, 1 if something did, 2
# if it cannot go on.
set -u

fail() {
    echo "campaign.sh: $*" >&2
    exit 2
}
[ $# -ge 2 ] && [ $# -le 3 ] || fail "usage: fuzz/campaign.sh TARGET DIR [EXECUTIONS]"
target=$1 executions=${3:-100000000} jobs=${JOBS:-$(nproc)}
case $executions$jobs in *[!0-9]*) fail "EXECUTIONS and JOBS are numbers" ;; esac
mkdir -p "$2"/{corpus,crashes,tmp} || exit 2
dir=$(cd "$2" && pwd) || exit 2
cd "$(dirname "$0")/.." || exit 2
# libFuzzer starts the inner processes of a merge and of its fork mode by a shell, and quotes nothing.
case $dir$PWD in *[[:space:]]*) fail "libFuzzer cannot work in a path with a space; a symbolic link to it helps: $dir, $PWD" ;; esac
cargo fuzz list | grep -xF -- "$target" >/dev/null || fail "no target is called $target"

# libFuzzer does not say when it cannot write, and goes on.
room() {
    head -c 4194304 /dev/zero 2>/dev/null >"$dir/tmp/room" || { rm -f "$dir/tmp/room"; fail "$dir: no room; all that was found is kept"; }
    rm "$dir/tmp/room"
}

# Adds to the first corpus what the others reach besides.
merge() { "$program" -merge=1 -max_len=194 "$@" >"$dir/tmp/merge.log" 2>&1 || { room; tail -n 5 "$dir/tmp/merge.log" >&2; fail "the merge failed"; }; }

cargo fuzz build -O --sanitizer none --no-trace-compares --features known "$target" || exit 2
program=$PWD/fuzz/target/$(rustc -vV | sed -n 's/^host: //p')/release/$target
export TMPDIR=$dir/tmp
# Whatever is started from here on holds the lock too.
exec 9>"$dir/lock" && flock --nonblock 9 || fail "$dir: an earlier campaign still runs there"
shopt -s nullglob

room
left=("$dir"/tmp/*/C*/)
if [ ${#left[@]} -gt 0 ]; then
    echo "campaign.sh: taking in what ${#left[@]} killed jobs had found"
    merge "$dir/corpus" "${left[@]}"
fi
rm -rf "${dir:?}/tmp" && mkdir "$dir/tmp" || exit 2

echo "campaign.sh: $executions executions of $target by $jobs jobs; see $dir/log"
# In a process group of its own, in which its jobs stay, and the shells that it starts them by.
set -m
"$program" -fork="$jobs" -ignore_crashes=1 -ignore_timeouts=1 -ignore_ooms=1 -runs="$executions" -artifact_prefix="$dir/crashes/" \
    -max_len=194 -timeout=10 -rss_limit_mb=2048 -use_counters=0 -mutate_depth=2 "$dir/corpus" "corpus/$target" >>"$dir/log" 2>&1 &
fuzzer=$!
set +m
# A terminal's Ctrl-C does not reach that group; and its jobs outlive the fuzzer, by up to five minutes. All at once, since
# what is asked to end cleans up: what its jobs have just found.
trap 'kill -9 -- -$fuzzer; wait $fuzzer 2>/dev/null' EXIT
while kill -0 "$fuzzer" 2>/dev/null; do
    room
    sleep 5
done
trap - EXIT
room

echo "campaign.sh: minimizing"
rm -rf "$dir/minimal.new" && mkdir "$dir/minimal.new" || exit 2
merge "$dir/minimal.new" "$dir/corpus" "corpus/$target"
room
rm -rf "$dir/minimal" && mv "$dir/minimal.new" "$dir/minimal" || exit 2

chord_fuzz() { cargo run --release --quiet -- "$@"; }
{
    chord_fuzz campaign "$dir/log" --svg "$dir/speed.svg" || exit 2
    files=("$dir"/crashes/*)
    [ ${#files[@]} -eq 0 ] || { echo && chord_fuzz triage --version "$target" "$dir/crashes"; }
    echo && chord_fuzz stats --version "$target" "$dir/minimal"
} >"$dir/report.new" && mv "$dir/report.new" "$dir/report" || fail "no report"
cat "$dir/report"
files=("$dir"/crashes/*)
[ ${#files[@]} -eq 0 ]
