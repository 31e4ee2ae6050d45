//! What people read of a run.

use std::fmt::Write as _;

use crate::judge::{Breach, Outcome, Target, Verdict};

/// The flags of the documented `cargo fuzz` commands: without a sanitizer, since the library has no unsafe code, stable
/// Rust suffices; and a total decoder has no comparisons worth tracing.
pub const FUZZ_FLAGS: &str = "--sanitizer none --no-trace-compares";

/// A verdict in a word or two: the signature of a violation as it is.
#[must_use]
pub fn verdict(target: Target, verdict: Verdict) -> String {
    match verdict {
        Verdict::Ideal => "ideal".to_owned(),
        Verdict::Violated(breach) => format!("{target}/{breach}"),
        Verdict::Repairable(breach) => format!("repairable:{target}/{breach}"),
        Verdict::Masked(breach) => format!("masked:{target}/{breach}"),
        Verdict::Outside(None) => "outside the assumptions".to_owned(),
        Verdict::Outside(Some(breach)) => format!("outside the assumptions: {target}/{breach}"),
    }
}

/// What a breach means, with its source if it is that of a published property.
#[must_use]
pub fn meaning(breach: Breach) -> String {
    match breach {
        Breach::Broken(property) => format!("{property} is broken ({})", property.source()),
        Breach::Stalled => {
            "the network does not come to rest or heal although no required property is broken: a defect of ours".into()
        }
        Breach::Runaway => "the run sends datagrams without end: a defect of ours".into(),
    }
}

/// What a violation's panic says: the signature in the first line, then all that it takes to check it.
///
/// `bytes` is the input as the fuzzer gave it, from which libFuzzer derives the name of the crash file.
#[must_use]
pub fn violation(breach: Breach, outcome: &Outcome, bytes: &[u8], target: Target) -> String {
    let Outcome { executed, assumptions, network, settled, proof, .. } = outcome;
    let file = format!("fuzz/artifacts/{target}/crash-{}", sha1_smol::Sha1::from(bytes).digest());
    let mut text = format!("{target}/{breach}\n{}\n", meaning(breach));
    let _ = write!(
        text,
        "\n\
         pointers as {columns}:\n    {network}\n\
         the same after fair maintenance:\n    {settled}\n\
         {proof}\
         assumptions:\n    {assumptions}\n\
         the {steps} steps as executed:\n{schedule}\
         \n\
         replay it:\n    cargo run --release -- replay --version {target} {file}\n\
         minimize it:\n    CHORD_FUZZ_ONLY={slug} cargo fuzz tmin {FUZZ_FLAGS} --runs 20000 {target} {file}\n\
         explain it:\n    cargo run --release -- explain --version {target} {file}\n\
         view it:\n    cargo run --release -- view --version {target} {file} -o {file}.html\n\
         prove it:\n    cargo run --release -- prove --version {target} {file}\n",
        columns = columns(network.list_len()),
        proof = proof.as_ref().map(|proof| format!("by any order of maintenance:\n    {proof}\n")).unwrap_or_default(),
        steps = executed.steps.len(),
        schedule = indent(&executed.to_string()),
        slug = breach.slug(),
    );
    text
}

/// The meaning of the columns in which a network's pointers are printed.
fn columns(list_len: u8) -> &'static str {
    if list_len == 2 { "succ/succ2/prdc" } else { "succ/succ2/succ3/prdc" }
}

fn indent(text: &str) -> String {
    text.lines().flat_map(|line| ["    ", line, "\n"]).collect()
}
