// Drives the pages in $PAGES with the browser $CHROMIUM. Run by tests/browser.rs.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const { CHROMIUM, PAGES } = process.env;
const executablePath = execFileSync('which', [CHROMIUM], { encoding: 'utf8' }).trim();
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
after(() => browser.close());

// Opens a page. It must load nothing, and have nothing to say, until it is closed.
async function open(file, hash = '', options = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce', ...options });
  const url = pathToFileURL(`${PAGES}/${file}`).href;
  const complaints = [];
  page.on('console', message => complaints.push(message.text()));
  page.on('pageerror', error => complaints.push(error.message));
  page.on('request', request => {
    if (request.url().split('#')[0] !== url && request.url() !== 'data:,') complaints.push(`request of ${request.url()}`);
  });
  page.on('requestfailed', request => complaints.push(`no ${request.url()}`));
  await page.goto(url + hash);
  return { page, done: async () => { await page.close(); assert.deepEqual(complaints, []); } };
}

// What a run of the page shows, as it is computed, not as it is marked.
const shown = (page, run = 0) => page.evaluate(run => {
  const section = document.querySelectorAll('.run')[run];
  const visible = [...section.querySelectorAll('.mark')].filter(mark => {
    const { visibility, opacity } = getComputedStyle(mark);
    return visibility === 'visible' && opacity === '1';
  });
  const count = selector => visible.filter(mark => mark.matches(selector)).length;
  const links = [...section.querySelectorAll('.events a')];
  return {
    at: links.findIndex(link => link.hasAttribute('aria-current')),
    current: links.filter(link => link.hasAttribute('aria-current')).length,
    slider: Number(section.querySelector('input').value),
    spoken: section.querySelector('input').getAttribute('aria-valuetext'),
    news: section.querySelector('[role=status]').textContent,
    picture: section.querySelector('svg').getAttribute('aria-label'),
    rows: section.querySelectorAll('tbody tr').length,
    broken: section.classList.contains('broken'),
    identifiers: count('.node'),
    members: count('.node.ring, .node.appendage'),
    onRings: count('.node.ring'),
    joining: count('.node.joining'),
    failed: count('.node.failed'),
    pointers: count('.pointer'),
    dead: count('.pointer.dead'),
    best: count('.best'),
    datagrams: count('.datagram'),
  };
}, run);

// Waits until a run is at this moment: what goes by the address takes the browser a while.
const arrives = (page, at, run = 0) => page.waitForFunction(([run, at]) => {
  const links = [...document.querySelectorAll('.run')[run].querySelectorAll('.events a')];
  return links[at].hasAttribute('aria-current');
}, [run, at], { timeout: 10_000 });

const story = page => page.evaluate(() => JSON.parse(document.querySelector('script.story').textContent));

// The same by the story alone.
function told(story, at) {
  const { nodes, rings } = at < story.events.length ? story.networks[story.events[at].network] : story.settled;
  const targets = nodes.flatMap(({ list, prdc, saved }) => [...list, prdc, saved]).filter(to => to !== null);
  const live = new Set(nodes.map(({ node }) => node));
  const [joining, failed, flying] = [new Set(), new Set(), new Set()];
  for (const event of story.events.slice(0, at + 1)) {
    const step = story.steps[event.step].executed;
    switch (event.kind) {
      case 'begin': if (step?.op === 'join') { joining.add(step.node); failed.delete(step.node); } break;
      case 'joined': case 'left': joining.delete(event.node); break;
      case 'failed': failed.add(event.node); break;
      case 'sent': if (event.due !== null) flying.add(event.index); break;
      case 'delivered': case 'discarded': flying.delete(event.datagram); break;
    }
  }
  return {
    identifiers: story.setup.circle,
    members: nodes.length,
    rows: nodes.length,
    onRings: rings.flat().length,
    joining: joining.size,
    failed: failed.size,
    pointers: targets.length,
    dead: targets.filter(to => !live.has(to)).length,
    best: nodes.filter(({ best }) => best !== null).length,
    datagrams: at < story.events.length ? flying.size : 0,
  };
}

for (const file of ['rings.html', 'delays.html']) {
  test(`${file}: every moment is drawn as it is told`, async () => {
    const { page, done } = await open(file);
    const run = await story(page);
    const seen = { datagrams: 0, joining: 0, failed: 0, dead: 0 };
    for (let at = 0; at <= run.events.length; at++) {
      const now = await shown(page);
      assert.deepEqual(now, { ...now, ...told(run, at), at, slider: at, current: 1 }, `moment ${at}`);
      assert.equal(now.spoken, now.news);
      for (const what in seen) seen[what] = Math.max(seen[what], now[what]);
      await page.keyboard.press('ArrowRight');
    }
    for (const what in seen) assert.ok(seen[what] > 0, `there are no ${what} in this run`);
    if (file === 'delays.html') assert.ok(seen.datagrams > 2, 'many datagrams at once');
    await done();
  });
}

test('keys, buttons, the slider and the list lead to the same moments', async () => {
  const { page, done } = await open('rings.html');
  const { steps, events } = await story(page);
  const end = step => steps[step].events[1] - 1;
  const at = async expected => assert.equal((await shown(page)).at, expected);
  await at(0);
  for (const [key, where] of [
    ['ArrowDown', end(1)], ['ArrowRight', end(1) + 1], ['ArrowDown', end(2)], ['Shift+ArrowRight', end(3)],
    ['ArrowLeft', end(3) - 1], ['ArrowUp', end(2)], ['Shift+ArrowLeft', end(1)], ['End', events.length],
    ['ArrowRight', events.length], ['ArrowUp', end(steps.length - 1)], ['Home', 0], ['ArrowLeft', 0], ['ArrowUp', 0],
  ]) {
    await page.keyboard.press(key);
    await at(where);
  }
  const slider = page.getByRole('slider', { name: 'event of run 1' });
  await slider.fill('30');
  await at(30);
  await slider.focus();
  await page.keyboard.press('ArrowRight');
  await at(31);
  for (const [name, where] of [['event back', 30], ['event on', 31], ['step on', end(4)], ['step back', end(3)], ['end', events.length], ['start', 0]]) {
    await page.getByRole('button', { name, exact: true }).click();
    await at(where);
  }
  const before = await page.locator('svg').first().screenshot();
  await page.locator('.events a').nth(end(13)).click();
  await arrives(page, end(13));
  assert.ok((await shown(page)).broken, 'the property is broken');
  assert.notDeepEqual(await page.locator('svg').first().screenshot(), before, 'another picture');
  await page.keyboard.press('ArrowLeft');
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-current')), 'step');
  assert.ok(!(await shown(page)).broken);
  await done();
});

test('the address says where it is', async () => {
  for (const [hash, where] of [['#e=12', 12], ['#e=99999', 110], ['#step=0', 0], ['#step=13', 109], ['#step=99', 110], ['#e=-1', 0], ['#e=x&step=', 0], ['#<b>', 0]]) {
    const { page, done } = await open('rings.html', hash);
    assert.equal((await shown(page)).at, where, hash);
    await done();
  }
  const { page, done } = await open('rings.html', '#e=12');
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction(() => location.hash === '#e=13');
  await page.getByRole('link', { name: /step 13$/ }).click();
  await arrives(page, 109);
  await page.goBack();
  await arrives(page, 13);
  await page.goForward();
  await arrives(page, 109);
  await done();
});

test('what is new in a moment stands out', async () => {
  const { page, done } = await open('rings.html', '#step=13');
  const fresh = await page.evaluate(() => [...document.querySelectorAll('.mark.new')].map(mark => mark.querySelector('title')?.textContent).filter(Boolean));
  assert.deepEqual(fresh.sort(), ['10: failed', '9: on another ring', 'predecessor of 0: 10, which is dead', 'successor of 9: 10, which is dead']);
  await done();
});

test('two runs stand side by side, and step together if they are to', async () => {
  const { page, done } = await open('both.html', '#e=5&e2=7');
  const at = async (...expected) => assert.deepEqual([(await shown(page, 0)).at, (await shown(page, 1)).at], expected);
  const [first, second] = await page.locator('.run').evaluateAll(runs => runs.map(run => run.getBoundingClientRect().toJSON()));
  assert.ok(first.top === second.top && first.right <= second.left);
  await at(5, 7);
  await page.keyboard.press('ArrowRight');
  await at(6, 7);
  await page.getByRole('slider', { name: 'event of run 2' }).focus();
  await page.keyboard.press('ArrowRight');
  await at(6, 8);
  await page.waitForFunction(() => location.hash === '#e=6&e2=8');
  await page.getByRole('checkbox', { name: 'step together' }).check();
  const stories = await page.evaluate(() => [...document.querySelectorAll('script.story')].map(story => JSON.parse(story.textContent)));
  await page.locator('.run').nth(0).locator('button').first().click();
  for (let step = 1; step < 10; step++) {
    await page.keyboard.press('ArrowDown');
    await at(...stories.map(({ steps }) => steps[step].events[1] - 1));
  }
  await page.keyboard.press('End');
  await at(...stories.map(({ events }) => events.length));
  await page.waitForFunction(hash => location.hash === hash, `#e=${stories[0].events.length}&e2=${stories[1].events.length}`);
  await page.locator('.run').nth(1).getByRole('link', { name: /step 3: / }).first().click();
  for (const run of [0, 1]) await arrives(page, stories[run].steps[3].events[0], run);
  await page.goBack();
  for (const run of [0, 1]) await arrives(page, stories[run].events.length, run);
  await done();
});

test('it fits a phone', async () => {
  for (const file of ['rings.html', 'delays.html', 'both.html']) {
    const { page, done } = await open(file, '#step=13', { viewport: { width: 360, height: 740 } });
    for (const key of ['Home', 'ArrowDown', 'End']) {
      await page.keyboard.press(key);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${file} after ${key}`);
    }
    const boxes = await page.locator('.run > :is(.stage, .events)').evaluateAll(all => all.map(one => one.getBoundingClientRect().toJSON()));
    boxes.slice(1).forEach((box, i) => assert.ok(box.top >= boxes[i].bottom - 1, 'one below the other'));
    await done();
  }
});

// The contrast of two colours by WCAG 2, 1 to 21.
function contrast(...colours) {
  const luminance = colour => {
    const [r, g, b] = colour.match(/[\d.]+/g).map(x => x / 255).map(x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [dark, light] = colours.map(luminance).sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

test('it is legible in light and in dark', async () => {
  const papers = [];
  for (const colorScheme of ['light', 'dark']) {
    const { page, done } = await open('rings.html', '#step=13', { colorScheme });
    const [paper, ...inks] = await page.evaluate(() => {
      const of = (selector, property = 'color') => getComputedStyle(document.querySelector(selector))[property];
      const texts = ['h2', '.file', '.point', '.events .change', '.events .good', '.events .bad', 'td.dead', '.news'];
      const marks = ['.succ .line', '.prdc .line', '.node.appendage circle', '.node.failed circle', '.best.ring path', '.datagram .line'];
      return [of('body', 'backgroundColor'), ...texts.map(text => of(text)), ...marks.map(mark => of(`.picture ${mark}`, 'stroke'))];
    });
    papers.push(paper);
    for (const ink of inks) assert.ok(contrast(paper, ink) >= 4.5, `${colorScheme}: ${ink} on ${paper}`);
    await done();
  }
  assert.notEqual(papers[0], papers[1]);
});

test('all has a name', async () => {
  const { page, done } = await open('rings.html', '#step=13');
  const tree = await page.locator('body').ariaSnapshot();
  for (const part of [
    'heading "ccr2012/AtMostOneRing" [level=2]', 'img "ring 0 → 0; ring 9 → 9; failed 2, 10"', 'img "legend"',
    'slider "event of run 1"', 'button "step on"', 'status: "step 13: fail 10 · node 10: fails"', 'table "pointers"',
    'navigation "events of run 1"', 'link "109 10 fails"',
  ]) {
    assert.ok(tree.includes(part), `${part} is not in\n${tree}`);
  }
  assert.ok(!/(button|link|img|slider|region)(:| \[|$)/m.test(tree), `something has no name:\n${tree}`);
  await page.keyboard.press('Tab');
  assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), 'none');
  await done();
});

test('who wants no motion gets none', async () => {
  for (const [reducedMotion, moves] of [['reduce', false], ['no-preference', true]]) {
    const { page, done } = await open('rings.html', '', { reducedMotion });
    const duration = await page.evaluate(() => getComputedStyle(document.querySelector('.mark')).transitionDuration);
    assert.equal(duration !== '0s', moves);
    await done();
  }
});

test('still pictures are drawn', async () => {
  for (const [name, members, datagrams] of [['first', 1, 0], ['breaking', 2, 0], ['last', 2, 0]]) {
    const { page, done } = await open(`rings-${name}.svg`);
    const count = selector => page.evaluate(selector => document.querySelectorAll(selector).length, selector);
    assert.equal(await page.evaluate(() => document.documentElement.getAttribute('role')), 'img');
    assert.equal(await count('.node.ring.mark'), members);
    assert.equal(await count('.datagram.mark'), datagrams);
    assert.equal(await count('parsererror'), 0);
    await done();
  }
});
