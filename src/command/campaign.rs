//! `chord-fuzz campaign`: what the log of a long campaign says.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use indicatif::HumanCount;
use plotters::prelude::*;

use super::input::head;
use super::plot::{number, rounded};
use super::{Status, print, save};

const AFTER_HELP: &str = "\
LOG is what libFuzzer prints in fork mode (-fork=N, or `cargo fuzz run --jobs
N`), of one run or of several one after the other, as when a campaign is killed
and resumed. All other lines are ignored. Prints how many runs there were, their
executions and seconds in all, what was covered at last, and how many jobs ended
in a crash, a timeout, or for want of memory. libFuzzer takes a job for crashed
that was killed from outside; one that said of no error is `killed` here.

Exit status:
  0  it is printed
  2  LOG cannot be read or has no such line, or the plot cannot be written

Examples:
  chord-fuzz campaign /tmp/campaign/log
  chord-fuzz campaign /tmp/campaign/log --svg /tmp/campaign/log.svg";

/// The longest log: a line of a hundred bytes for each job, of which each but the first few takes minutes.
const LONGEST_LOG: usize = 1 << 26;

/// Says what the log of a long campaign says
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Campaign {
    /// Where to plot executions per second and features, over the executions
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// The log
    log: PathBuf,
}

/// What libFuzzer says after a job: all that its run has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Pulse {
    executions: u64,
    edges: u64,
    features: u64,
    corpus: u64,
    out_of_memory: u64,
    timeouts: u64,
    /// The jobs before this one that failed in any other way.
    failures: u64,
    seconds: u64,
    /// Whether an error of this job is told below the line.
    told: bool,
}

impl Pulse {
    /// Reads `#6411: cov: 789 ft: 944 corp: 63 exec/s: 3205 oom/timeout/crash: 0/0/0 time: 2s job: 1 dft_time: 0`.
    fn read(line: &str) -> Option<Self> {
        let (executions, rest) = line.strip_prefix('#')?.split_once(": ")?;
        let mut words = rest.split_whitespace();
        let mut pulse = Self { executions: executions.parse().ok()?, ..Self::default() };
        let mut known = 0;
        while let (Some(name), Some(value)) = (words.next(), words.next()) {
            let number = || value.parse().ok();
            match name {
                "cov:" => pulse.edges = number()?,
                "ft:" => pulse.features = number()?,
                "corp:" => pulse.corpus = number()?,
                "oom/timeout/crash:" => {
                    let mut counts = value.split('/').map(str::parse);
                    let mut next = || counts.next()?.ok();
                    (pulse.out_of_memory, pulse.timeouts, pulse.failures) = (next()?, next()?, next()?);
                }
                "time:" => pulse.seconds = value.strip_suffix('s')?.parse().ok()?,
                _ => continue,
            }
            known += 1;
        }
        (known == 5).then_some(pulse)
    }
}

/// The pulses of a log, by runs: a run begins where the executions are fewer than before.
fn read(log: &Path) -> anyhow::Result<Vec<Vec<Pulse>>> {
    let bytes = head(File::open(log)?, LONGEST_LOG + 1)?;
    ensure!(bytes.len() <= LONGEST_LOG, "longer than {LONGEST_LOG} bytes");
    let mut runs: Vec<Vec<Pulse>> = Vec::new();
    for line in String::from_utf8_lossy(&bytes).lines() {
        if let Some(pulse) = Pulse::read(line) {
            match runs.last_mut() {
                Some(run) if run.last().is_some_and(|last| last.executions <= pulse.executions) => run.push(pulse),
                _ => runs.push(vec![pulse]),
            }
        } else if let Some(last) = runs.last_mut().and_then(|run| run.last_mut()) {
            // What fork mode takes over from the log of a job that failed. One that was killed has not said why.
            last.told |= line.contains("ERROR:") || line.contains("runtime error:");
        }
    }
    Ok(runs)
}

impl Campaign {
    /// Prints what the log says, and plots it.
    ///
    /// # Errors
    ///
    /// If the log cannot be read or has nothing of libFuzzer's fork mode, and if the plot cannot be written.
    pub fn run(&self) -> anyhow::Result<Status> {
        let runs = read(&self.log).with_context(|| self.log.display().to_string())?;
        let Some(last) = runs.last().and_then(|run| run.last()) else {
            bail!("{}: has no line of libFuzzer's fork mode", self.log.display());
        };
        if let Some(svg) = &self.svg {
            save(svg, plot(&runs)?.as_bytes())?;
        }
        let total = |count: fn(&Pulse) -> u64| runs.iter().filter_map(|run| run.last()).map(count).sum::<u64>();
        let (executions, seconds) = (total(|pulse| pulse.executions), total(|pulse| pulse.seconds));
        let crashes = runs.iter().flatten().filter(|pulse| pulse.told).count();
        let killed = |pair: &&[Pulse]| pair[0].failures < pair[1].failures && !pair[0].told;
        let killed = runs.iter().flat_map(|run| run.windows(2)).filter(killed).count();
        let rows = [
            ("runs", runs.len() as u64),
            ("executions", executions),
            ("seconds", seconds),
            ("executions/s", executions / seconds.max(1)),
            ("edges", last.edges),
            ("features", last.features),
            ("corpus", last.corpus),
            ("crashes", crashes as u64),
            ("timeouts", total(|pulse| pulse.timeouts)),
            ("out of memory", total(|pulse| pulse.out_of_memory)),
            ("killed", killed as u64),
        ];
        for (name, number) in rows {
            print(&format!("{name:13}  {:>13}", HumanCount(number).to_string()))?;
        }
        Ok(Status::Passed)
    }
}

/// Executions per second and features, over the executions of all runs, as an SVG.
fn plot(runs: &[Vec<Pulse>]) -> anyhow::Result<String> {
    let (mut speeds, mut features) = (Vec::new(), Vec::new());
    let mut before = 0;
    for run in runs {
        let mut last = Pulse::default();
        for &pulse in run {
            let x = number(before + pulse.executions);
            let (executions, seconds) =
                (pulse.executions - last.executions, pulse.seconds.saturating_sub(last.seconds));
            // Jobs that end within the same second are one point.
            if let Some(speed) = executions.checked_div(seconds) {
                speeds.push((x, number(speed)));
                last = pulse;
            }
            features.push((x, number(pulse.features)));
        }
        before += run.last().map_or(0, |pulse| pulse.executions);
    }
    let most = |points: &[(f64, f64)]| points.iter().map(|(_, y)| *y).fold(1.0, f64::max) * 1.05;
    let across: Range<f64> = 0.0..number(before.max(1));
    let (small, grey) = (("sans-serif", 16), RGBColor(0x80, 0x80, 0x80));
    let colour = RGBColor(0xc0, 0x20, 0x60);

    let mut svg = String::new();
    let root = SVGBackend::with_string(&mut svg, (720, 420)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .margin(16)
        .x_label_area_size(48)
        .y_label_area_size(72)
        .right_y_label_area_size(72)
        .build_cartesian_2d(across.clone(), 0.0..most(&speeds))?
        .set_secondary_coord(across, 0.0..most(&features));
    let label = |count: &f64| rounded(*count).to_string();
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .label_style(small)
        .axis_desc_style(small)
        .x_labels(6)
        .x_desc("executions")
        .y_desc("executions/s")
        .x_label_formatter(&label)
        .y_label_formatter(&label)
        .draw()?;
    chart
        .configure_secondary_axes()
        .label_style(small)
        .axis_desc_style(small)
        .y_desc("features")
        .y_label_formatter(&label)
        .draw()?;
    chart
        .draw_series(LineSeries::new(speeds, grey.stroke_width(1)))?
        .label("executions/s")
        .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], grey));
    chart
        .draw_secondary_series(LineSeries::new(features, colour.stroke_width(2)))?
        .label("features")
        .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour));
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .label_font(small)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK)
        .draw()?;
    root.present()?;
    drop(chart);
    drop(root);
    Ok(svg)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_fork_mode_prints() {
        let line =
            "#6411: cov: 789 ft: 944 corp: 63 exec/s: 3205 oom/timeout/crash: 1/2/3 time: 25s job: 1 dft_time: 0";
        let pulse = Pulse {
            executions: 6411,
            edges: 789,
            features: 944,
            corpus: 63,
            out_of_memory: 1,
            timeouts: 2,
            failures: 3,
            seconds: 25,
            told: false,
        };
        assert_eq!(Pulse::read(line), Some(pulse));
        for line in ["#6411: cov: 789 ft: 944", "#1024\tpulse  cov: 834 ft: 1481 corp: 337/12Kb", "#x: cov: 1", "", "#"]
        {
            assert_eq!(Pulse::read(line), None, "{line}");
        }
        // Torn by a kill.
        assert!((0..line.find(" job").unwrap()).all(|end| Pulse::read(&line[..end]).is_none()));
    }
}
