use chord_fuzz::{schedule::*, verdict::*};
fn main() {
    let target: Target = std::env::args().nth(1).unwrap().parse().unwrap();
    let want = std::env::args().nth(2).unwrap();
    let mut x: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut next = || { x ^= x << 13; x ^= x >> 7; x ^= x << 17; x };
    let mut best: Option<Outcome> = None;
    for _ in 0..400000 {
        let len = 10 + (next() % 50) as usize;
        let mut bytes = vec![0u8; 2 + 2 * len];
        for b in &mut bytes { *b = (next() >> 24) as u8; }
        bytes[0] &= 15; bytes[0] |= 8;
        let o = run(target, &Schedule::decode(&bytes), &Options::default(), &mut ());
        if format!("{:?}", o.verdict).contains(&want) && best.as_ref().is_none_or(|b| b.executed.steps.len() > o.executed.steps.len()) { best = Some(o); }
    }
    let o = best.unwrap();
    // greedy removal
    let mut cur = o;
    loop {
        let mut improved = false;
        for i in 0..cur.executed.steps.len() {
            let mut s = cur.executed.clone();
            s.steps.remove(i);
            let o = run(target, &s, &Options::default(), &mut ());
            if o.verdict == cur.verdict && o.executed.steps.len() < cur.executed.steps.len() { cur = o; improved = true; break; }
        }
        if !improved { break; }
    }
    let mut t: Vec<chord_fuzz::trace::Event> = vec![]; let _ = run(target, &cur.executed, &Options::default(), &mut t); for e in &t { println!("  {e}"); } println!("{}{:?}\n{}\nsettled {}", cur.executed, cur.verdict, cur.network, cur.settled);
}
