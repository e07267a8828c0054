import type { Answer, Family, ReplyHeaders, SiteRequest } from '../exchange.ts';
import { html, numberIn, raw, segmentsOf } from '../exchange.ts';
import { documentOf, linkList } from '../layout.ts';
import { randomFrom, seedOf } from '../random.ts';

/**
 * Pages that fail and recover, counted per URL since the last reset; any query makes a fresh one.
 *
 * `/again/<status>/<hint>/<times>` answers the status that many times, then 200. Times may be `always`.
 * Hints: `none`, `seconds` (Retry-After: 1), `date` (one to two seconds ahead), `past`, `bad`, `far` (a day).
 */
const PREFIX = '/again/';
const ALWAYS = Number.MAX_SAFE_INTEGER;

const HINTS = new Map<string, (at: number) => ReplyHeaders>([
  ['none', () => ({})],
  ['seconds', () => ({ 'retry-after': '1' })],
  ['date', (at: number) => ({ 'retry-after': new Date(at + 2_000).toUTCString() })],
  ['past', () => ({ 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' })],
  ['bad', () => ({ 'retry-after': 'soon' })],
  ['far', () => ({ 'retry-after': '86400' })],
]);

const fine = (note: string): Answer => html(documentOf({ title: 'Recovered', body: `<p>${note}</p>` }));

function failing(request: SiteRequest, status: number, hint: string, times: number): Answer | null {
  const headers = HINTS.get(hint)?.(request.at);
  if (headers === undefined) return null;
  if (request.countVisit() >= times) return fine('Thank you for your patience.');
  return html(documentOf({ title: `Status ${status}`, body: '<p>Not now.</p>' }), status, headers);
}

/** Resets the connection the first times, then answers. */
function resets(request: SiteRequest, times: number): Answer {
  return request.countVisit() < times ? raw((wire) => wire.reset()) : fine('The line holds.');
}

/** About one visit in three fails, which ones depends on the URL alone; never more than two in a row. */
function flaky(request: SiteRequest): Answer {
  const visit = request.countVisit();
  const fails = (at: number): boolean =>
    randomFrom(seedOf(`${request.path}?${request.query}`) + at)() < 1 / 3;
  const isFailing = fails(visit) && !(visit >= 2 && fails(visit - 1) && fails(visit - 2));
  return isFailing
    ? html(documentOf({ title: 'Status 500', body: '<p>Oops.</p>' }), 500)
    : fine('This time it worked.');
}

export const again: Family = {
  prefix: PREFIX,
  about: '429, 5xx and resets that recover, or never do',
  starts: [PREFIX],
  answer(request) {
    const [first = '', second = '', third] = segmentsOf(request, PREFIX);
    if (first === '') {
      const list = ['429/seconds/2', '429/date/1', '503/seconds/2', '500/none/1', 'flaky/a', 'resets/2'];
      return html(documentOf({ title: 'Again', body: linkList(list.map((path) => PREFIX + path)) }));
    }
    if (first === 'flaky') return flaky(request);
    if (first === 'resets') return resets(request, numberIn(second, 100) ?? ALWAYS);
    const status = numberIn(first, 599);
    const times = third === 'always' ? ALWAYS : numberIn(third, 1_000);
    if (status === null || status < 400 || times === null) return null;
    return failing(request, status, second, times);
  },
};

/** The host `busy` takes this many requests in any second and refuses the rest. */
export const BUSY_PER_SECOND = 5;

/** Returns a refusal when the host had too many requests in the last second, else null and counts this one. */
export function createBusyGate(): (at: number) => Answer | null {
  const accepted: number[] = [];
  return (at) => {
    while (accepted[0] !== undefined && at - accepted[0] >= 1_000) accepted.shift();
    if (accepted.length >= BUSY_PER_SECOND) {
      return html(documentOf({ title: 'Too many requests', body: '<p>Slow down.</p>' }), 429, {
        'retry-after': '1',
      });
    }
    accepted.push(at);
    return null;
  };
}
