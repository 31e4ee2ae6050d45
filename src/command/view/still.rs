//! Still pictures of a run.

use chord_fuzz::finding::report;
use chord_fuzz::finding::story::Story;
use maud::{PreEscaped, html};

use super::picture::{LAST, Moment, SIDE, STYLE, arrows, legend, ring};
use crate::command::explain::heading;

/// The height of a line of text.
const LINE: usize = 18;

/// The first, the breaking and the last picture, each with its name; without a breaking one if nothing is broken.
pub fn pictures(story: &Story) -> Vec<(&'static str, String)> {
    let moments = Moment::all(story);
    let after = |step: usize| &moments[story.steps[step].events.end - 1];
    let broken = story.broken.and_then(|broken| broken.for_good.or(broken.first));
    let breaking = broken.or(story.irreparable).map(|step| {
        let title = format!("after {}", heading(story, step));
        ("breaking", still(story, after(step), &title))
    });
    let first = ("first", still(story, after(0), "at the start"));
    let last = ("last", still(story, &moments[moments.len() - 1], LAST));
    [Some(first), breaking, Some(last)].into_iter().flatten().collect()
}

/// A picture that stands by itself.
fn still(story: &Story, moment: &Moment, title: &str) -> String {
    let setup = story.outcome.executed.setup;
    let signature = report::verdict(story.target, story.outcome.verdict);
    let words = moment.words();
    let legend = legend(setup.list_len);
    let top = 2 * LINE + 12;
    let below = top + usize::from(SIDE);
    let legend_at = below + LINE * words.len() + 8;
    let height = legend_at + legend.height + 12;
    let picture = html! {
        svg.picture xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (SIDE) " " (height) } width=(SIDE) height=(height) role="img" {
            title { (signature) ", " (title) }
            desc { (words.join("; ")) }
            style { (PreEscaped(STYLE)) }
            rect.paper width=(SIDE) height=(height) {}
            text x="20" y="28" font-size="15" font-weight="600" { (signature) }
            text.quiet x="20" y=(28 + LINE) { (arrows(title)) }
            g transform={ "translate(0 " (top) ")" } { (ring(setup.circle, &moment.marks())) }
            @for (number, line) in words.iter().enumerate() {
                text x="20" y=(below + LINE * number) { (line) }
            }
            g transform={ "translate(0 " (legend_at) ")" } { (legend.drawn) }
        }
    };
    picture.into_string() + "\n"
}
