use chord_fuzz::{schedule::*, verdict::*};
use std::collections::BTreeMap;
fn main() {
    let mut args = std::env::args().skip(1);
    let target: Target = args.next().unwrap().parse().unwrap();
    let n: u64 = args.next().unwrap().parse().unwrap();
    let steps: usize = args.next().unwrap().parse().unwrap();
    let flags: u8 = args.next().unwrap().parse().unwrap();
    let circle: Option<u8> = args.next().map(|c| c.parse().unwrap());
    let mut x: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut next = || { x ^= x << 13; x ^= x >> 7; x ^= x << 17; x };
    let mut counts: BTreeMap<String, (u64, u64, usize)> = BTreeMap::new();
    let mut total = 0;
    let t = std::time::Instant::now();
    for i in 0..n {
        let mut bytes = vec![0u8; 2 + 2 * steps];
        for b in &mut bytes { *b = (next() >> 24) as u8; }
        bytes[0] = if flags == 255 { bytes[0] } else { flags };
        if let Some(c) = circle { bytes[1] = c - 4; }
        let s = Schedule::decode(&bytes);
        let o = run(target, &s, &Options::default(), &mut ());
        total += o.executed.steps.len();
        let k = format!("{:?}", o.verdict);
        let e = counts.entry(k).or_insert((0, i, 999));
        e.0 += 1;
        e.2 = e.2.min(o.executed.steps.len());
    }
    let dt = t.elapsed().as_secs_f64();
    println!("{target} {n} runs, {:.0}/s, {:.1} steps", n as f64 / dt, total as f64 / n as f64);
    for (k, v) in counts { println!("  {k}: {} first at {} shortest {}", v.0, v.1, v.2); }
}
