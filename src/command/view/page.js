'use strict';

const POINTERS = ['succ', 'succ2', 'succ3'];

// A run, of which one moment is shown: that after an event, or the last one, after fair maintenance.
class Run {
  constructor(section) {
    const data = name => JSON.parse(section.querySelector(`script.${name}`).textContent);
    this.story = data('story');
    this.frames = data('frames');
    this.last = this.frames.length - 1;
    this.at = 0;
    this.section = section;
    this.svg = section.querySelector('svg');
    this.marks = [...this.svg.querySelectorAll('.mark')];
    this.links = [...section.querySelectorAll('.events a')];
    this.slider = section.querySelector('input');
  }

  // The step of a moment. Fair maintenance counts as one more.
  step(at) { return at < this.last ? this.story.events[at].step : this.story.steps.length; }

  // The last moment of a step.
  end(step) { return step < this.story.steps.length ? this.story.steps[step].events[1] - 1 : this.last; }

  // Where a key leads.
  go(key, whole) {
    const step = this.step(this.at);
    const back = step > 0 ? this.end(step - 1) : 0;
    const on = this.at < this.end(step) ? this.end(step) : this.end(step + 1);
    switch (key) {
      case 'ArrowLeft': return whole ? back : Math.max(this.at - 1, 0);
      case 'ArrowRight': return whole ? on : Math.min(this.at + 1, this.last);
      case 'ArrowUp': return back;
      case 'ArrowDown': return on;
      case 'Home': return 0;
      case 'End': return this.last;
    }
  }

  // The moment of another run in the same step, as far into it.
  like(other) {
    const step = other.step(other.at);
    if (step >= other.story.steps.length) return this.last;
    if (step >= this.story.steps.length) return this.end(this.story.steps.length - 1);
    const [start, end] = this.story.steps[step].events;
    return other.at === other.end(step) ? end - 1 : Math.min(start + other.at - other.story.steps[step].events[0], end - 1);
  }

  show(at) {
    const before = new Set(this.frames[Math.max(at - 1, 0)].marks);
    const now = new Set(this.frames[at].marks);
    this.marks.forEach((mark, i) => {
      mark.classList.toggle('on', now.has(i));
      mark.classList.toggle('new', now.has(i) && !before.has(i));
      mark.classList.toggle('gone', before.has(i) && !now.has(i) && !mark.classList.contains('node'));
    });

    this.links[this.at].removeAttribute('aria-current');
    this.at = at;
    const link = this.links[at];
    link.setAttribute('aria-current', 'step');
    const list = this.section.querySelector('.events');
    const [top, bottom] = [link.offsetTop, link.offsetTop + link.offsetHeight];
    if (top < list.scrollTop + 40 || bottom > list.scrollTop + list.clientHeight - 40) {
      list.scrollTop = top - list.clientHeight / 2;
    }
    if (list.contains(document.activeElement)) link.focus({ preventScroll: true });

    const { news, words } = this.frames[at];
    this.svg.setAttribute('aria-label', words);
    this.section.querySelector('.words').textContent = words;
    this.section.querySelector('.news').textContent = news;
    this.section.querySelector('output').textContent = `${at} of ${this.last}`;
    this.slider.value = at;
    this.slider.setAttribute('aria-valuetext', news);
    const broken = this.story.broken?.property;
    const network = this.network(at);
    this.section.classList.toggle('broken', network.broken.includes(broken));
    this.table(network, this.network(Math.max(at - 1, 0)));
  }

  network(at) { return at < this.last ? this.story.networks[this.story.events[at].network] : this.story.settled; }

  table(network, before) {
    const live = new Set(network.nodes.map(member => member.node));
    const names = [...POINTERS.slice(0, this.story.setup.list_len), 'prdc'];
    if (this.story.networks.some(({ nodes }) => nodes.some(({ saved }) => saved !== null))) names.push('candidate');
    const pointers = ({ list, prdc, saved }) => names.map(name => ({ prdc, candidate: saved })[name] ?? list[POINTERS.indexOf(name)] ?? null);
    const element = (name, text, ...classes) => {
      const made = document.createElement(name);
      made.textContent = text;
      made.classList.add(...classes);
      return made;
    };
    const row = cells => { const made = element('tr', ''); made.append(...cells); return made; };
    this.section.querySelector('thead').replaceChildren(row(['node', ...names].map(name => element('th', name))));
    this.section.querySelector('tbody').replaceChildren(...network.nodes.map(member => {
      const was = before.nodes.find(({ node }) => node === member.node);
      const cells = pointers(member).map((to, i) => {
        const dead = to !== null && !live.has(to);
        const cell = element('td', to === null ? '–' : dead ? `${to} †` : to);
        cell.classList.toggle('dead', dead);
        cell.classList.toggle('new', !was || pointers(was)[i] !== to);
        return cell;
      });
      return row([element('th', member.node), ...cells]);
    }));
  }
}

const runs = [...document.querySelectorAll('.run')].map(section => new Run(section));
const together = document.querySelector('#together');
// The run that the keys are for: the one used last.
let leader = runs[0];
let writing;

function move(run, at) {
  run.show(at);
  if (together?.checked) for (const other of runs) if (other !== run) other.show(other.like(run));
  // Browsers refuse when it is written too often, as while the slider is drawn along.
  clearTimeout(writing);
  writing = setTimeout(write, 100);
}

// The address says where each run is, as in `#e=12&e2=7`.
function write() {
  history.replaceState(null, '', '#' + runs.map((run, i) => `e${i ? 2 : ''}=${run.at}`).join('&'));
}

// Goes where the address says: to an event, or after a step. A link speaks of one run only.
function read() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const number = (key, last) => /^\d+$/.test(asked.get(key)) ? Math.min(Number(asked.get(key)), last) : null;
  const moments = runs.map((run, i) => {
    const suffix = i ? 2 : '';
    const step = number(`step${suffix}`, run.story.steps.length);
    return number(`e${suffix}`, run.last) ?? (step === null ? null : run.end(step));
  });
  const one = moments.includes(null);
  runs.forEach((run, i) => {
    if (moments[i] === null) return;
    if (one) move(run, moments[i]); else run.show(moments[i]);
  });
}

for (const run of runs) {
  for (const use of ['focusin', 'pointerdown']) run.section.addEventListener(use, () => { leader = run; });
  run.slider.addEventListener('input', () => move(run, Number(run.slider.value)));
  for (const button of run.section.querySelectorAll('button')) {
    button.addEventListener('click', () => move(run, run.go(button.dataset.key, false)));
  }
  run.show(0);
}
document.addEventListener('keydown', event => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const at = leader.go(event.key, event.shiftKey);
  if (at === undefined) return;
  event.preventDefault();
  move(leader, at);
});
together?.addEventListener('change', () => move(leader, leader.at));
addEventListener('hashchange', read);
read();
