//! The page: all that is in it is written here, and its script only shows one moment at a time.

use std::collections::BTreeSet;
use std::path::Path;

use anstyle::Style;
use anyhow::Context as _;
use chord_fuzz::finding::report;
use chord_fuzz::finding::story::{Broken, Event, Story, What};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;

use super::picture::{self, LAST, Mark, Moment, SIDE, arrows, legend, ring};
use crate::command::explain::{BAD, CHANGE, GOOD, heading, mark, meaning};
use crate::command::one_line;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// Nothing is loaded, whatever a browser might otherwise find to load.
const POLICY: &str = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// The page of one run or two, each with the file that it is of.
///
/// # Errors
///
/// If a story cannot be serialized, which is not known to happen.
pub fn of(runs: &[(&Path, Story)]) -> anyhow::Result<String> {
    let sections = runs.iter().enumerate().map(|(number, (file, story))| section(number, file, story));
    let sections = sections.collect::<anyhow::Result<Vec<_>>>()?;
    let signatures: Vec<_> = runs.iter().map(|(_, story)| signature(story)).collect();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                link rel="icon" href="data:,";
                title { (signatures.join(" and ")) " - chord-fuzz" }
                style { (PreEscaped(picture::STYLE)) (PreEscaped(STYLE)) }
            }
            body class=[(runs.len() > 1).then_some("two")] {
                header {
                    h1 { "chord-fuzz" }
                    p { kbd { "←" } kbd { "→" } " event" kbd { "↑" } kbd { "↓" } " step" kbd { "Home" } kbd { "End" } }
                    @if runs.len() > 1 {
                        label { input type="checkbox" id="together"; " step together" }
                    }
                }
                main { @for section in &sections { (section) } }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    Ok(page.into_string())
}

/// What the script shows of a moment.
#[derive(Serialize)]
struct Frame {
    /// The marks in the picture, by their numbers in the order in which they are drawn.
    marks: Vec<usize>,
    /// What has just happened.
    news: String,
    /// What the network is like now.
    words: String,
}

fn section(number: usize, file: &Path, story: &Story) -> anyhow::Result<Markup> {
    let setup = story.outcome.executed.setup;
    let moments = Moment::all(story);
    let marks: BTreeSet<Mark> = moments.iter().flat_map(Moment::marks).collect();
    let frames: Vec<_> = moments
        .iter()
        .enumerate()
        .map(|(event, moment)| {
            let shown = moment.marks();
            let marks = marks.iter().enumerate().filter(|(_, mark)| shown.contains(mark)).map(|(number, _)| number);
            Frame { marks: marks.collect(), news: news(story, event), words: moment.words().join("; ") }
        })
        .collect();
    let last = frames.len() - 1;
    let title = format!("run-{}", number + 1);
    let legend = legend(setup.list_len);
    Ok(html! {
        section.run aria-labelledby=(title) {
            div.head {
                h2 id=(title) { (signature(story)) }
                p { (meaning(story)) }
                p.file { (one_line(&file.display().to_string())) " on " (story.target) "; " (story.outcome.assumptions) }
            }
            div.stage {
                svg.picture role="img" viewBox={ "0 0 " (SIDE) " " (SIDE) } { (ring(setup.circle, &marks)) }
                div.controls {
                    @for (key, sign, name) in [
                        ("Home", "⇤", "start"),
                        ("ArrowUp", "«", "step back"),
                        ("ArrowLeft", "‹", "event back"),
                        ("ArrowRight", "›", "event on"),
                        ("ArrowDown", "»", "step on"),
                        ("End", "⇥", "end"),
                    ] {
                        button type="button" data-key=(key) aria-label=(name) title=(name) { (sign) }
                    }
                    output {}
                }
                @let points = points(story);
                div.slider style={ "--rows:" (points.len()) } {
                    input type="range" min="0" max=(last) value="0" aria-label={ "event of run " (number + 1) };
                    @for (row, point) in points.iter().enumerate() {
                        @let event = story.steps[point.step].events.end - 1;
                        a.point href=(link(number, event)) style={ "--at:" (event) "/" (last) ";--row:" (row) } { (point.name) ": step " (point.step) }
                    }
                }
                p.news role="status" {}
                p.words {}
                table { caption { "pointers" } thead {} tbody {} }
            }
            nav.events aria-label={ "events of run " (number + 1) } { (events(number, story)) }
            svg.picture.key role="img" aria-label="legend" viewBox={ "0 0 " (SIDE) " " (legend.height) } { (legend.drawn) }
            (data("story", story)?)
            (data("frames", &frames)?)
        }
    })
}

fn signature(story: &Story) -> String {
    report::verdict(story.target, story.outcome.verdict)
}

fn news(story: &Story, event: usize) -> String {
    let Some(Event { step, what, .. }) = story.events.get(event) else { return LAST.to_owned() };
    let step = heading(story, *step);
    if *what == What::Begin {
        return step;
    }
    let mark = mark(story, event);
    format!("{step} · node {}: {}", mark.node, arrows(&mark.text))
}

/// Where in a page a moment is to be found.
fn link(run: usize, event: usize) -> String {
    let key = if run == 0 { "e" } else { "e2" };
    format!("#{key}={event}")
}

/// A step to look at.
struct Point {
    step: usize,
    name: String,
}

/// Where it broke, as far as it did.
fn points(story: &Story) -> Vec<Point> {
    let (first, for_good) = story.broken.map_or((None, None), |Broken { first, for_good, .. }| (first, for_good));
    let mut points: Vec<Point> = Vec::new();
    for (step, name) in [(first, "first broken"), (for_good, "for good"), (story.irreparable, "beyond repair")] {
        let Some(step) = step else { continue };
        match points.iter_mut().find(|point| point.step == step) {
            Some(point) => point.name = format!("{}, {name}", point.name),
            None => points.push(Point { step, name: name.to_owned() }),
        }
    }
    points.sort_by_key(|point| point.step);
    points
}

/// A link for each event, in their order, under its step; at last one for fair maintenance.
fn events(run: usize, story: &Story) -> Markup {
    let points = points(story);
    html! {
        ol {
            @for (number, step) in story.steps.iter().enumerate() {
                li {
                    a.step href=(link(run, step.events.start)) {
                        span.number { (step.events.start) } " " (heading(story, number))
                        @for point in points.iter().filter(|point| point.step == number) {
                            " " span.broke { (point.name) }
                        }
                    }
                    ol {
                        @for event in step.events.clone().skip(1) {
                            @let mark = mark(story, event);
                            li {
                                a href=(link(run, event)) class=[class(mark.style)] {
                                    span.number { (event) } " " span.at { (mark.node) } " " (arrows(&mark.text))
                                }
                            }
                        }
                    }
                }
            }
            li { a.step href=(link(run, story.events.len())) { span.number { (story.events.len()) } " " (LAST) } }
        }
    }
}

fn class(style: Style) -> Option<&'static str> {
    [(GOOD, "good"), (BAD, "bad"), (CHANGE, "change")].into_iter().find(|(s, _)| *s == style).map(|(_, class)| class)
}

/// Data for the script. Without `<` it has nothing in it that could end its element.
fn data(class: &str, data: &impl Serialize) -> anyhow::Result<Markup> {
    let json = serde_json::to_string(data).context("JSON")?.replace('<', r"\u003c");
    Ok(html! { script type="application/json" class=(class) { (PreEscaped(json)) } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_does_not_end_its_element() {
        let hostile = "</script><!-- <script>";
        let element = data("data", &hostile).unwrap().into_string();
        let json = element.strip_prefix(r#"<script type="application/json" class="data">"#).unwrap();
        let json = json.strip_suffix("</script>").unwrap();
        assert!(!json.contains('<'), "{json}");
        assert_eq!(serde_json::from_str::<String>(json).unwrap(), hostile);
    }
}
