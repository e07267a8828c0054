import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { reasonsTable, withSection } from '../../scripts/docs.ts';
import { adviceFor, ruleSentence, stopSentence } from '../../src/capabilities/jobs/results/outcome-words.ts';
import {
  PROVISIONAL_REASONS,
  REASON_NAMES,
  readReason,
  reasonSpec,
  UNDONE_BY_RESUME,
} from '../../src/core/model/reasons.ts';
import { planSentence } from '../../src/crawl/plan/ladder/fetch-methods.ts';
import { readSources, readSqlFiles } from './sources.ts';

const REGISTRY = /^core\/model\/(?:task|plan|hold)-reasons\.ts$/;
const sources = readSources().filter(({ path }) => !REGISTRY.test(path));
/** What the names of reasons begin with; those of events and other things are others. */
const FAMILIES = [...new Set(REASON_NAMES.flatMap((name) => name.split('.').slice(0, -1)))].join('|');
const WORDS = REASON_NAMES.filter((name) => !name.includes('.')).join('|');
const NO_BUDGETS = { maxPages: null, maxBytes: null, maxDurationMs: null };
const entry = { url: 'https://shop.test/x', depth: 3, foundOn: 'https://shop.test/' };

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
/** A reason of the name, with a parameter where it needs one. */
const exampleOf = (name: (typeof REASON_NAMES)[number]): string => {
  const { parameter, separator = ':' } = reasonSpec(name);
  return parameter === undefined ? name : `${name}${separator}7`;
};

describe('the registry of reasons', () => {
  it('is the only place where a text is called a reason: every other text that is none does not compile', () => {
    const cast = /\bas (?:readonly )?(?:Task|Scope|Stop|Plan|Hold|Ledger|Attempt|Redirected)?Reason\b/;
    // What a store reads was written as a reason.
    const found = sources.filter(({ path, text }) => !path.startsWith('drivers/store-') && cast.test(text));
    expect(found.map(({ path }) => path)).toEqual([]);
  });

  it('has every reason that the SQL of the stores names', () => {
    const named = new RegExp(`'((?:${FAMILIES})\\.[a-z-]+|(?:${WORDS}))'`, 'g');
    const found = [...sources, ...readSqlFiles()]
      .filter(({ path }) => path.startsWith('drivers/store-'))
      // A list of the files of a schema names files.
      .filter(({ path }) => !path.endsWith('/migrations.ts'))
      .flatMap(({ path, text }) =>
        [...text.matchAll(named)].map(([, reason = '']) => [path, reason] as const),
      );
    expect(found.length).toBeGreaterThan(3);
    expect(found.filter(([, reason]) => readReason(reason) === null)).toEqual([]);
    expect(
      [...sources, ...readSqlFiles()]
        .filter(({ text }) => /\brule LIKE\b/.test(text))
        .map(({ path }) => path),
    ).toEqual([]);
  });

  it('is what reads a reason: no file looks at how one begins', () => {
    const prefix = new RegExp(`startsWith\\(\\s*['\`](?:(?:${FAMILIES})\\.(?!')|(?:${WORDS}):)`);
    expect(sources.filter(({ text }) => prefix.test(text)).map(({ path }) => path)).toEqual([]);
  });

  it('has no reason that nothing gives', () => {
    const all = sources.map(({ text }) => text).join('\n');
    const unused = REASON_NAMES.filter((name) => {
      const { parameter, separator = ':' } = reasonSpec(name);
      const beginnings = [
        `'${name}'`,
        `'${name} (redirect)'`,
        `\`${name}${separator}`,
        `'${name}${separator}`,
      ];
      return !(parameter === undefined ? beginnings.slice(0, 2) : beginnings).some((text) =>
        all.includes(text),
      );
    });
    expect(unused).toEqual([]);
  });

  it.each(REASON_NAMES)('has words for %s, and a value for each of their names', (name) => {
    const reason = exampleOf(name);
    expect(readReason(reason)).toMatchObject({ name });
    const sentences = [
      name.startsWith('plan.') ? planSentence(reason, 'shop.test') : ruleSentence(reason, entry, null),
      ...(reasonSpec(name).stopWords === undefined
        ? []
        : [stopSentence({ stopReason: reason, options: { budgets: NO_BUDGETS } })]),
    ];
    for (const sentence of sentences) {
      expect(sentence).toMatch(/^\S.*\.$/);
      expect(sentence).not.toMatch(/[{}]|The rule .* decided|The reason is|stopped early/);
    }
  });

  it('has advice for each of its limits, by the reason as causes show it', () => {
    const limits = REASON_NAMES.filter((name) => reasonSpec(name).stopWords !== undefined && name !== 'wait');
    for (const name of limits) expect(adviceFor('skipped', name, null), name).toMatch(/, then resume|Resume/);
  });

  it('says for the stores what another way, or resuming the job, undoes', () => {
    expect([...PROVISIONAL_REASONS]).toEqual(['scope.depth', 'scope.nofollow']);
    expect(UNDONE_BY_RESUME).toEqual([
      'budget.pages',
      'budget.bytes',
      'budget.duration',
      'budget.browser',
      'budget.proxy',
      'budget.credits',
      'login-walls',
    ]);
  });

  it('is what docs/job-views.md lists: else run `npm run docs`', () => {
    const page = read('docs/job-views.md');
    expect(page).toBe(withSection(page, 'reasons', reasonsTable()));
  });
});

it.each([
  ['task.time-limit:60000', 'All attempts together took longer than the 1 min 00 s that they may take'],
  ['opt-out', 'The owner of shop.test has opted out of being crawled.'],
  ['login-wall (redirect)', 'It leads to a page that asks to log in.'],
])('%s has words of its own: %s', (rule, words) => {
  expect(ruleSentence(rule, entry, null)).toContain(words);
});
