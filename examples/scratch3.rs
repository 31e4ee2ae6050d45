use chord_fuzz::{schedule::*, verdict::*};
use std::collections::BTreeMap;
fn main() {
    let a: Vec<String> = std::env::args().skip(1).collect();
    let target: Target = a[0].parse().unwrap();
    let n: u64 = a[1].parse().unwrap();
    // weights per op in order J S A R U F X
    let w: Vec<u64> = a[2].split(',').map(|x| x.parse().unwrap()).collect();
    let flags: u8 = a[3].parse().unwrap();
    let circle: u8 = a[4].parse().unwrap();
    let table: Vec<Op> = Op::ALL.iter().take(7).zip(&w).flat_map(|(o, k)| std::iter::repeat_n(*o, *k as usize)).collect();
    let mut x: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut next = || { x ^= x << 13; x ^= x >> 7; x ^= x << 17; x >> 11 };
    let mut ops: BTreeMap<Op, u64> = BTreeMap::new();
    let mut verdicts: BTreeMap<String, (u64, u64, usize)> = BTreeMap::new();
    let mut members = 0u64; let mut total = 0u64;
    let t = std::time::Instant::now();
    for i in 0..n {
        let mut bytes = vec![0u8; 2 + 2 * 60];
        for b in &mut bytes { *b = (next()) as u8; }
        bytes[0] = flags; bytes[1] = circle - 4;
        let mut s = Schedule::decode(&bytes);
        for st in &mut s.steps { st.op = table[(next() % table.len() as u64) as usize]; }
        let o = run(target, &s, &Options::default(), &mut ());
        for st in &o.executed.steps { *ops.entry(st.op).or_default() += 1; total += 1; }
        members += u64::from(o.network.members().len());
        let e = verdicts.entry(format!("{:?}", o.verdict)).or_insert((0, i, 999)); e.0 += 1; e.2 = e.2.min(o.executed.steps.len());
    }
    println!("{target} {}: {:.0}/s members {:.1}", a[2], n as f64 / t.elapsed().as_secs_f64(), members as f64 / n as f64);
    for (o, c) in ops { print!(" {o:?} {:.3}", c as f64 / total as f64); }
    println!();
    for (v, c) in verdicts { println!("   {v} {c:?}"); }
}
