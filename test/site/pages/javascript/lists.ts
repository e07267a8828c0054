import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, html, json, numberIn, type SiteRequest, text } from '../../exchange.ts';
import { sentence, titleOf } from '../../prose.ts';
import { randomFrom } from '../../random.ts';
import { PREFIX, shellOf } from './shell.ts';

/** Pages that get what they show from JSON: at once, late, bit by bit, and in several requests. */
const API = `${PREFIX}api/`;
const LIST_ITEMS = 30;
const BATCH_ITEMS = 20;
const BATCHES = 5;
const LATE_MS = 500;

const itemsOf = (first: number, count: number) =>
  Array.from({ length: count }, (_, at) => {
    const number = first + at;
    return {
      number,
      name: titleOf(number),
      about: sentence(randomFrom(number)),
      href: `${PREFIX}static/${number}`,
    };
  });

const SHOW_LIST = `const show = ({ items, note }) => {
  add('h1', document.title);
  const list = add('ul', '');
  for (const { number, name, about, href } of items) {
    const item = add('li', '', list);
    item.id = 'item-' + number;
    add('a', name, item).href = href;
    add('p', about, item);
  }
  add('p', note).id = 'note';
};`;

const listPage = (title: string, path: string, afterMs = 0): Answer =>
  html(
    shellOf({
      title,
      script: `${SHOW_LIST}\n${afterMs === 0 ? '' : `setTimeout(() => `}load('${API}${path}').then(show)${afterMs === 0 ? ';' : `, ${afterMs});`}`,
    }),
  );

const scrollPage = (): Answer =>
  html(
    shellOf({
      title: 'A list without an end in sight',
      script: `add('h1', document.title);
const list = add('ul', '');
const end = add('p', 'There is more.');
let batch = 0;
const watch = new IntersectionObserver(async ([seen]) => {
  if (!seen.isIntersecting) return;
  watch.unobserve(end);
  const { items, note, isLast } = await load('${API}scroll/' + batch++);
  for (const { number, name, about } of items) {
    const item = add('li', name, list);
    item.id = 'item-' + number;
    item.style.height = '60px';
    add('p', about, item);
  }
  end.textContent = note;
  if (!isLast) watch.observe(end);
});
watch.observe(end);`,
    }),
  );

const requestsPage = (): Answer =>
  html(
    shellOf({
      title: 'Many requests',
      script: `add('h1', document.title);
const old = () => new Promise((resolve) => {
  const request = new XMLHttpRequest();
  request.onload = () => resolve(request.responseText);
  request.open('GET', '${API}plain-text');
  request.send();
});
Promise.all([
  load('${API}list'),
  load('${API}echo', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"asked":"politely"}' }),
  old(),
  fetch('${API}no-such-thing').then((answer) => answer.text().then(() => answer.status)),
]).then(([{ items }, echo, plain, status]) => {
  add('p', items.length + ' items, ' + JSON.stringify(echo) + ', ' + plain.trim() + ', ' + status).id = 'done';
});`,
    }),
  );

export const LIST_PAGES: Readonly<Record<string, () => Answer>> = {
  list: () => listPage('A list made by a script', 'list'),
  late: () => listPage('A list whose data takes its time', 'late'),
  later: () => listPage('A list that a timer begins', 'list', LATE_MS),
  scroll: scrollPage,
  xhr: requestsPage,
};

/** What the scripts ask for, by the path after `/js/api/`. */
export const LIST_DATA: Readonly<
  Record<string, (request: SiteRequest, rest: readonly string[]) => Answer | null | Promise<Answer>>
> = {
  list: () => json({ items: itemsOf(0, LIST_ITEMS), note: `The list has ${LIST_ITEMS} entries.` }),
  async late() {
    await pause(LATE_MS);
    return json({ items: itemsOf(100, LIST_ITEMS), note: 'The data took its time.' });
  },
  scroll(_, [segment]) {
    const batch = numberIn(segment, BATCHES - 1);
    if (batch === null) return null;
    const isLast = batch === BATCHES - 1;
    const note = isLast ? 'That was all of it.' : 'There is more.';
    return json({ items: itemsOf(batch * BATCH_ITEMS, BATCH_ITEMS), note, isLast });
  },
  async echo(request) {
    return json({ method: request.method, body: (await request.readBody()).toString() });
  },
  'plain-text': () => text('Plain words.\n'),
};
