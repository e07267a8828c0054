import { describe, expect, it } from 'vitest';
import type { ChangeRules, PageState } from '../../core/model/monitor.ts';
import { decideChange, EMPTY_STATE, type IsWorthTelling, type Observation } from './decide-change.ts';
import { MOST_ROUNDS } from './evaluate-check.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const T0 = Date.UTC(2026, 10, 17, 9, 0);
const RULES: ChangeRules = { confirm: 2, settleMs: 6 * HOUR_MS, failAfter: 3, learnNoise: true };

/** A page of twelve lines with these in the middle. */
const page = (...middle: string[]) => [
  'Shop of chairs',
  'Home',
  'Chairs',
  'Tables',
  'The wooden chair',
  'It is made of oak and holds for a hundred years.',
  ...middle,
  'Delivered within a week.',
  'Made by hand in our workshop.',
  'Imprint',
  'Terms',
  'Privacy',
];

const content = (at: number, lines: readonly string[]): Observation => ({
  kind: 'content',
  content: { at, lines },
  title: 'A page',
  source: null,
});

interface Told {
  readonly at: number;
  readonly kind: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** Checks the page every ten minutes, and tells what was told. */
function watch(
  observations: readonly (readonly string[] | Exclude<Observation['kind'], 'content'>)[],
  rules: ChangeRules = RULES,
  isWorthTelling?: IsWorthTelling,
  startAt = T0,
) {
  let state: PageState = EMPTY_STATE;
  const told: Told[] = [];
  const troubles: string[] = [];
  observations.forEach((seen, index) => {
    const at = startAt + index * 10 * MINUTE_MS;
    const observation: Observation =
      seen === 'failed'
        ? { kind: 'failed', at, reason: 'CONNECT_FAILED' }
        : typeof seen === 'string'
          ? { kind: seen, at }
          : content(at, seen as readonly string[]);
    const decision = decideChange(state, observation, rules, isWorthTelling);
    state = decision.state ?? EMPTY_STATE;
    if (decision.trouble !== null) troubles.push(`${index}:${decision.trouble}`);
    const { change } = decision;
    if (change === null) return;
    told.push({
      at: index,
      kind: change.kind,
      added: change.after.filter((line) => !change.before.includes(line)),
      removed: change.before.filter((line) => !change.after.includes(line)),
    });
  });
  return { told, troubles, state };
}

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);
const each = <T>(count: number, value: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => value(at));

describe('a change', () => {
  it('is told once it was seen by as many checks as asked for, with nothing else', () => {
    const { told } = watch([...times(5, page('Price: 19.00 €')), ...times(5, page('Price: 91.00 €'))]);
    expect(told).toEqual([
      { at: 6, kind: 'MODIFIED', added: ['Price: 91.00 €'], removed: ['Price: 19.00 €'] },
    ]);
  });

  it.each([1, 2, 3, 4])('soon after the baseline, after %d looks, is told within the check', (looks) => {
    const hours = (from: number) => page(`Opening hours: ${from} to 17.`);
    const rules = { ...RULES, confirm: 3 };
    let state: PageState = EMPTY_STATE;
    const told: string[] = [];
    const look = (seconds: number, lines: readonly string[]) => {
      const {
        change,
        needsRecheck,
        state: next,
      } = decideChange(state, content(T0 + seconds * 1_000, lines), rules);
      state = next ?? EMPTY_STATE;
      if (change !== null) told.push(change.kind);
      return needsRecheck;
    };
    // Nothing differs, so that no look asks for another.
    expect(each(looks, (at) => look(at * 30, hours(9)))).not.toContain(true);
    const since = (looks - 1) * 30 + 84;
    for (let round = 0; round <= MOST_ROUNDS; round += 1) {
      if (!look(since + round * 30, hours(10))) break;
    }
    expect(told).toEqual(['MODIFIED']);
  });

  it('that goes away before is not told', () => {
    const { told } = watch([...times(5, page('a')), page('b'), ...times(9, page('a'))]);
    expect(told).toEqual([]);
  });

  it('is told as reverted when the page goes back after a while', () => {
    const { told } = watch([
      ...times(5, page('In stock')),
      ...times(9, page('Sold out')),
      ...times(9, page('In stock')),
    ]);
    expect(told.map(({ kind }) => kind)).toEqual(['MODIFIED', 'REVERTED']);
  });

  it('is told each time that stock comes and goes', () => {
    const days = each(10, (day) => times(12, page(day % 2 === 0 ? 'In stock' : 'Sold out'))).flat();
    expect(watch(days).told).toHaveLength(9);
  });

  it('beside a clock is told without the clock', () => {
    const clock = (at: number) =>
      `It is ${String(9 + Math.floor(at / 6)).padStart(2, '0')}:${(at % 6) * 10 || '00'} now`;
    const { told } = watch(each(12, (at) => page(clock(at), at < 6 ? 'Price: 19 €' : 'Price: 18 €')));
    expect(told).toEqual([{ at: 7, kind: 'MODIFIED', added: ['Price: 18 €'], removed: ['Price: 19 €'] }]);
  });

  it('of opening hours is none of a clock', () => {
    const { told } = watch([
      ...times(6, page('Open 09:00 to 18:00')),
      ...times(6, page('Open 10:00 to 18:00')),
    ]);
    expect(told).toHaveLength(1);
  });

  it('in small steps is told when they add up to the threshold', () => {
    const prices = each(60, (at) => page(`Price: ${100 + Math.floor(at / 5)} €`));
    const isTen: IsWorthTelling = (before, after) => {
      const number = (lines: readonly string[]) => Number(/Price: (\d+)/.exec(lines.join('\n'))?.[1]);
      return Math.abs(number(before) - number(after)) >= 5;
    };
    const { told } = watch(prices, RULES, isTen);
    expect(told.map(({ added }) => added)).toEqual([['Price: 105 €'], ['Price: 110 €']]);
  });
});

describe('no change', () => {
  it('is a clock, a date, a relative time or a countdown', () => {
    const pages = each(300, (index) => {
      const at = new Date(T0 + index * 10 * MINUTE_MS);
      const hours = Math.floor((index * 10) / 60);
      return page(
        `Now ${at.toISOString().slice(11, 19)}`,
        `Today is ${at.toISOString().slice(0, 10)}`,
        `${at.toLocaleDateString('en-US', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })}`,
        hours === 0
          ? 'Posted 1 hour ago'
          : `Posted ${hours < 24 ? `${hours + 1} hours` : `${Math.floor(hours / 24)} days`} ago`,
      );
    });
    expect(watch(pages).told).toEqual([]);
  });

  it('is a counter that moves with every visit', () => {
    expect(watch(each(100, (at) => page(`${1000 + at * 7} visitors`))).told).toEqual([]);
    expect(watch(each(100, (at) => page(`Number ${1000 + at * 7} of today`))).told).toEqual([]);
  });

  it('is an advertisement, also where it has several lines or none', () => {
    const ads = [
      [],
      ['Buy soap now!'],
      ['Try our tea', 'Only today'],
      ['Fly to Rome'],
      ['Loans', 'at 3 %', 'ask us'],
      ['Shoes'],
    ];
    const pages = each(400, (at) =>
      page('Price: 19 €', ...(ads[(at * 7 + (at % 5) * 3) % ads.length] ?? []), 'Reviews'),
    );
    expect(watch(pages).told).toEqual([]);
    const changed = pages.map((lines, at) =>
      at < 300 ? lines : lines.map((line) => line.replace('19', '21')),
    );
    expect(watch(changed).told.map(({ added }) => added)).toEqual([['Price: 21 €']]);
  });

  it('is a variant of a test that was seen in the beginning; a new variant is one', () => {
    const random = (at: number) => ((at * 2_654_435_761) >>> 0) % 7 < 3;
    const pages = each(400, (at) => page(random(at) ? 'Buy it now' : 'Add to the basket', 'Price: 19 €'));
    expect(watch(pages).told.length).toBeLessThanOrEqual(1);
    const renamed = pages.map((lines, at) =>
      at < 200 ? lines : lines.map((line) => line.replace('Buy it', 'Order')),
    );
    expect(watch(renamed).told.length).toBeLessThanOrEqual(2);
    expect(watch(renamed).told.at(-1)?.added).toEqual(['Order now']);
  });

  it('is an outage, a block page that looks like a page, half a page or a 404 of an hour', () => {
    const good = page('Price: 19 €');
    const block = ['Just a moment', 'Checking your browser', 'Please wait', 'Ray 1234'];
    const { told, troubles } = watch([
      ...times(10, good),
      ...times(6, 'failed' as const),
      ...times(5, good),
      ...times(6, block),
      ...times(5, good),
      ...times(6, good.slice(0, 5)),
      ...times(5, good),
      ...times(6, 'gone' as const),
      ...times(5, good),
      ...times(6, [] as string[]),
      ...times(5, good),
    ]);
    expect(told).toEqual([]);
    expect(troubles).toEqual(['12:failed', '16:recovered']);
  });
});

describe('a page', () => {
  it('that is gone, or wholly another, for long enough is told', () => {
    const good = page('Price: 19 €');
    const other = ['We are closed', 'for good', 'Thank you', 'for all these years', 'Bye'];
    expect(watch([...times(5, good), ...times(50, 'gone' as const)]).told.map(({ kind }) => kind)).toEqual([
      'REMOVED',
    ]);
    expect(watch([...times(5, good), ...times(50, other)]).told.map(({ kind }) => kind)).toEqual([
      'MODIFIED',
    ]);
    const back = watch([...times(5, good), ...times(50, 'gone' as const), ...times(5, good)]);
    expect(back.told.map(({ kind }) => kind)).toEqual(['REMOVED', 'ADDED']);
  });

  it('without learning is compared as it is', () => {
    const rules = { ...RULES, learnNoise: false, confirm: 1 };
    expect(
      watch(
        each(10, (at) => page(`${at} visitors`)),
        rules,
      ).told,
    ).toHaveLength(9);
  });
});
