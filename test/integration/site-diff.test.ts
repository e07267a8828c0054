import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createComparisons } from '../../src/capabilities/compare/comparisons.ts';
import { DIFF_COLUMNS, diffRow, type SiteChange } from '../../src/capabilities/compare/site-change.ts';
import type { ChangeView } from '../../src/capabilities/views/diff-view.ts';
import type { Job } from '../../src/core/model/job.ts';
import { DEFAULT_RULES } from '../../src/extract/diff/diff-rules.ts';
import {
  type ChangingSite,
  FIRST_TO_SECOND,
  FIRST_TO_THIRD,
  startChangingSite,
} from '../site/changing-site.ts';
import { type ApiWorld, openApiWorld } from './api-world.ts';
import { runCommand } from './cli-command.ts';
import { QUICK_POLICY } from './world.ts';

let world: ApiWorld;
let site: ChangingSite;
const crawls: Job[] = [];

beforeAll(async () => {
  site = await startChangingSite();
  world = await openApiWorld({ policy: QUICK_POLICY });
  for (const edition of [0, 1, 2]) {
    site.show(edition);
    const urls = [`${site.origin}/`];
    const options = { maxAttempts: 1 };
    crawls.push(
      await world.settled(await world.crawlNow({ urls, sitemap: 'skip', options, snapshots: true })),
    );
  }
});
afterAll(async () => {
  await world.close();
  await site.close();
});

const idOf = (edition: number): string => String(crawls[edition]?.id);

interface DiffAnswer {
  readonly items: readonly ChangeView[];
  readonly nextCursor: string | null;
  readonly summary?: { readonly counts: Readonly<Record<string, number>>; readonly isWhole: boolean };
}

async function diff(
  before: number,
  after: number,
  query: Readonly<Record<string, string>> = {},
): Promise<DiffAnswer> {
  const parameters = new URLSearchParams({ against: idOf(before), ...query });
  const { status, body } = await world.call({ url: `/v1/jobs/${idOf(after)}/diff?${parameters}` });
  expect(body.error).toBeUndefined();
  expect(status).toBe(200);
  return body.data as unknown as DiffAnswer;
}

const ALL = 'ADDED,REMOVED,MODIFIED,UNCHANGED,MOVED,REVERTED,NOT_COVERED';
const byPath = ({ items }: DiffAnswer): ReadonlyMap<string, ChangeView> =>
  new Map(items.map((change) => [new URL(change.url).pathname, change]));
const typesOf = (answer: DiffAnswer) =>
  Object.fromEntries([...byPath(answer)].map(([path, { type }]) => [path, type]).sort());
const sorted = (types: Readonly<Record<string, string>>) => Object.fromEntries(Object.entries(types).sort());

describe('the diff of two crawls', () => {
  test('has the right type for every page', async () => {
    expect(typesOf(await diff(0, 1, { type: ALL }))).toEqual(sorted(FIRST_TO_SECOND));
  });

  test('passes over errors in between', async () => {
    expect(typesOf(await diff(0, 2, { type: ALL }))).toEqual(sorted(FIRST_TO_THIRD));
  });

  test('tells prices and stock apart, digits in another order included', async () => {
    const changes = byPath(await diff(0, 1));
    expect(changes.get('/swap')).toMatchObject({
      changed: expect.arrayContaining(['price', 'text']),
      previous: { price: 19, currency: 'EUR', title: 'Lamp' },
      current: { price: 91, currency: 'EUR', title: 'Lamp' },
    });
    expect(changes.get('/sold')).toMatchObject({
      changed: ['availability'],
      previous: { availability: 'InStock' },
      current: { availability: 'OutOfStock' },
    });
    expect(changes.get('/new-place')?.previousUrl).toBe(`${site.origin}/old-place`);
    expect(changes.get('/target')?.previousUrl).toBe(`${site.origin}/redirected`);
  });

  test('says what proves that a page came or went, and why nothing is known of others', async () => {
    const changes = byPath(await diff(0, 1));
    const reasonOf = (path: string) => changes.get(path)?.reason;
    expect(reasonOf('/gone')).toMatchObject({ crawl: 'current', code: 'not-linked' });
    expect(reasonOf('/new')).toMatchObject({ crawl: 'previous', code: 'not-linked' });
    expect(reasonOf('/flaky')).toMatchObject({ crawl: 'current', code: 'failed:HTTP_ERROR' });
    expect(reasonOf('/list')).toMatchObject({ crawl: 'current', code: 'failed:HOST_RATE_LIMITED' });
    expect(reasonOf('/hidden')).toMatchObject({ crawl: 'current', code: 'parent-not-read' });
  });

  test('names the crawl that a reason is about, and what leads to the page in which of them', async () => {
    const [forth, back] = [byPath(await diff(0, 1)), byPath(await diff(1, 0))];
    const start = `${site.origin}/`;
    expect(forth.get('/new')?.reason?.message).toBe(
      'Earlier crawl: No page and no sitemap of the crawl leads to it.',
    );
    expect(back.get('/gone')).toMatchObject({
      type: 'ADDED',
      reason: {
        message: `Earlier crawl: Neither the page ${start}, which leads to it in the later crawl, nor another page that was read led to it.`,
      },
    });
    expect(forth.get('/gone')).toMatchObject({
      type: 'REMOVED',
      reason: {
        message: `Later crawl: Neither the page ${start}, which led to it in the earlier crawl, nor another page that was read leads to it.`,
      },
    });
    expect(forth.get('/hidden')?.reason?.message).toBe(
      `Later crawl: The page ${start}list, which led to it in the earlier crawl, was not read (failed, HOST_RATE_LIMITED).`,
    );
    expect(back.get('/hidden')?.reason?.message).toBe(
      `Earlier crawl: The page ${start}list, which leads to it in the later crawl, was not read (failed, HOST_RATE_LIMITED).`,
    );
  });

  test('tells a page that redirected before as moved from where it was, and never to itself', async () => {
    const { items } = await diff(1, 0, { type: ALL });
    expect(items.filter(({ url, previousUrl }) => url === previousUrl)).toEqual([]);
    expect(byPath({ items, nextCursor: null }).get('/redirected')).toMatchObject({
      type: 'MOVED',
      previousUrl: `${site.origin}/target`,
    });
  });

  test('leaves out what the rules ignore, in the type as in the diff', async () => {
    const rules = JSON.stringify({ ignore: { patterns: ['\\d+ visitors'] } });
    const { type, changed, comparison } = byPath(await diff(0, 1, { rules, type: ALL })).get('/visits') ?? {};
    expect({ type, changed, texts: comparison?.texts }).toEqual({
      type: 'UNCHANGED',
      changed: [],
      texts: [],
    });
    const bySelector = JSON.stringify({ ignore: { selectors: ['.counter'] } });
    expect(byPath(await diff(0, 1, { rules: bySelector, type: ALL })).get('/visits')?.type).toBe('UNCHANGED');
  });

  test('is read in pages and counted', async () => {
    const items: ChangeView[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const slice = await diff(0, 1, { limit: '3', ...(cursor === '' ? {} : { cursor }) });
      expect(slice.items.length).toBeLessThanOrEqual(3);
      items.push(...slice.items);
      cursor = slice.nextCursor;
    }
    const whole = await diff(0, 1, { summary: 'true' });
    expect(items).toEqual(whole.items);
    const counts: Record<string, number> = {};
    for (const type of Object.values(FIRST_TO_SECOND)) counts[type] = (counts[type] ?? 0) + 1;
    expect(whole.summary).toMatchObject({ counts, isWhole: true });
  });

  test('is streamed', async () => {
    const url = `/v1/jobs/${idOf(1)}/diff?against=${idOf(0)}`;
    const answer = await world.send({ url, headers: { accept: 'application/x-ndjson' } });
    const lines = answer.body.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual((await diff(0, 1)).items);
    const { items } = await world.platform.store.listAudit({ limit: 10 });
    expect(items).toContainEqual(
      expect.objectContaining({
        action: 'job.export',
        target: idOf(1),
        details: expect.objectContaining({ what: 'diff', against: idOf(0) }),
      }),
    );
  });

  test.each<[string, string, string]>([
    ['a type that there is not', 'against=OTHER&type=ODD', 'type'],
    ['rules that are no JSON', 'against=OTHER&rules=%7B', 'rules'],
    [
      'a pattern that is none',
      `against=OTHER&rules=${encodeURIComponent('{"ignore":{"patterns":["("]}}')}`,
      'rules.ignore.patterns.0',
    ],
    [
      'a selector that is none',
      `against=OTHER&rules=${encodeURIComponent('{"watch":{"selectors":["a["]}}')}`,
      'rules.watch.selectors.0',
    ],
    ['an unknown rule', `against=OTHER&rules=${encodeURIComponent('{"look":1}')}`, 'rules.look'],
  ])('refuses %s, with the field', async (_, query, field) => {
    const url = `/v1/jobs/${idOf(1)}/diff?${query.replace('OTHER', idOf(0))}`;
    const { status, body } = await world.call({ url });
    expect([status, body.error?.code]).toEqual([422, 'VALIDATION_FAILED']);
    expect(body.error?.details).toMatchObject([{ field }]);
  });

  test('knows no job of another account', async () => {
    const missing = '01900000-0000-7000-8000-000000000000';
    const { status } = await world.call({ url: `/v1/jobs/${idOf(1)}/diff?against=${missing}` });
    expect(status).toBe(404);
  });
});

test('a crawl that did not get to its end proves nothing', async () => {
  site.show(1);
  const urls = [`${site.origin}/`];
  const short = await world.crawlNow({ urls, sitemap: 'skip', maxPages: 2, options: { maxAttempts: 1 } });
  const parameters = new URLSearchParams({ against: idOf(0), type: ALL });
  const { body } = await world.call({ url: `/v1/jobs/${short.id}/diff?${parameters}` });
  const changes = byPath(body.data as unknown as DiffAnswer);
  const types = new Set([...changes.values()].map(({ type }) => type));
  expect(types.has('REMOVED')).toBe(false);
  expect(changes.get('/gone')).toMatchObject({
    type: 'NOT_COVERED',
    reason: { code: 'job-stopped:budget.pages' },
  });
});

test('a request ends in time, however long its pages take, and the next one goes on', async () => {
  const { store, blobs } = world.platform;
  let now = 0;
  // Each look at the clock is 20 seconds after the one before.
  const clock = () => {
    now += 20_000;
    return now;
  };
  const comparisons = createComparisons({ store, blobs, clock });
  const [previous, current] = crawls as [Job, Job];
  const pair = { previous, current, rules: DEFAULT_RULES };
  const whole = await Array.fromAsync(comparisons.changes(pair));
  const urls: string[] = [];
  let cursor: string | undefined;
  do {
    const types = ALL.split(',') as SiteChange['type'][];
    const { items, nextCursor } = await comparisons.slice(pair, { types, cursor, limit: 100 });
    expect(items.length).toBeLessThanOrEqual(1);
    urls.push(...items.map(({ url }) => url));
    cursor = nextCursor ?? undefined;
  } while (cursor !== undefined);
  expect(urls).toEqual(whole.map(({ url }) => url));
  const { counts, isWhole } = await comparisons.summary(pair);
  expect(isWhole).toBe(false);
  expect(Object.values(counts).reduce((sum, count) => sum + count)).toBeLessThanOrEqual(2);
  await comparisons.close();
});

test('the rows of an export have the columns of the plan, in their order', async () => {
  const { store, blobs } = world.platform;
  const comparisons = createComparisons({ store, blobs });
  const [previous, current] = crawls as [Job, Job];
  const rows = await Array.fromAsync(
    comparisons.changes({ previous, current, rules: DEFAULT_RULES }),
    diffRow,
  );
  await comparisons.close();
  expect(DIFF_COLUMNS.slice(0, 11).join(',')).toBe(
    'url,prev_crawl_at,curr_crawl_at,change_type,fields_changed,price_prev,price_curr,availability_prev,availability_curr,title_prev,title_curr',
  );
  const rowOf = (path: string) => rows.find(({ url }) => url === `${site.origin}${path}`);
  expect(rowOf('/swap')).toMatchObject({
    change_type: 'MODIFIED',
    fields_changed: 'price;text',
    price_prev: 19,
    price_curr: 91,
    title_prev: 'Lamp',
    title_curr: 'Lamp',
  });
  expect(rowOf('/new')).toMatchObject({
    change_type: 'ADDED',
    prev_crawl_at: null,
    price_prev: null,
    price_curr: 300,
  });
  expect(rowOf('/gone')).toMatchObject({
    change_type: 'REMOVED',
    price_prev: 60,
    price_curr: null,
    reason: 'current:not-linked',
  });
  for (const row of rows) {
    expect(Object.keys(row)).toEqual([...DIFF_COLUMNS]);
    expect(new Date(String(row.curr_crawl_at)).toISOString()).toBe(row.curr_crawl_at);
  }
});

interface Place {
  readonly args: string[];
  readonly env: Record<string, string>;
}

let places: readonly Place[] | undefined;

/** A server, and the data folder where there is one. */
async function openPlaces(): Promise<readonly Place[]> {
  if (places !== undefined) return places;
  const api = await world.api.listen({ port: 0, host: '127.0.0.1' });
  const remote = { args: ['--api', api], env: { SCRAPIFIE_API_KEY: world.secret } };
  const isShared = world.platform.settings.databaseUrl !== undefined;
  places = isShared ? [remote] : [remote, { args: ['--data-dir', world.dataDir], env: {} }];
  return places;
}

describe('scrapifie diff', () => {
  test('tells what changed, and ends with 10 when something did', async () => {
    for (const { args, env } of await openPlaces()) {
      const changed = await runCommand(['diff', idOf(0), idOf(1), ...args], { env });
      expect(changed.exitCode).toBe(10);
      expect(changed.stdout).toContain(`MODIFIED     ${site.origin}/swap  price: 19 → 91, text\n`);
      expect(changed.stdout).toContain(`MOVED        ${site.origin}/old-place → ${site.origin}/new-place\n`);
      expect(changed.stdout).toContain('[current:parent-not-read]');
      expect(changed.stdout).not.toContain('UNCHANGED');
      expect(changed.stderr).toMatch(/NOT_COVERED +3/);
      const urls = changed.stdout
        .split('\n')
        .slice(1, -1)
        .map((line) => /^\S+ +(?:\S+ → )?(\S+)/.exec(line)?.[1] ?? '');
      expect(urls).toHaveLength(13);
      expect(urls).toEqual(urls.toSorted());

      const json = await runCommand(['diff', idOf(0), idOf(1), '--json', '--type', 'ADDED', ...args], {
        env,
      });
      expect(
        json.stdout
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line)),
      ).toEqual([expect.objectContaining({ type: 'ADDED', url: `${site.origin}/new` })]);

      const same = ['--watch', 'text', '--ignore', '\\d+ visitors', '--type', 'MODIFIED'];
      const unchanged = await runCommand(['diff', idOf(2), idOf(2), ...same, ...args], { env });
      expect(unchanged).toEqual({ exitCode: 0, stdout: '', stderr: 'Nothing has changed.\n' });
    }
  }, 120_000);

  test('refuses what there is not', async () => {
    expect(await runCommand(['diff', 'a', 'b', '--watch', 'texts'])).toMatchObject({ exitCode: 2 });
    expect(await runCommand(['diff', 'a', 'b', '--type', 'GONE'])).toMatchObject({ exitCode: 2 });
  });

  test('refuses a wrong pattern under the name of its flag', async () => {
    const { exitCode, stderr } = await runCommand(['diff', 'a', 'b', '--ignore', '(']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--ignore');
  });
});

describe('with snapshots', () => {
  interface Answer {
    readonly items: readonly { readonly id: string; readonly price: number | null }[];
  }
  const get = async (url: string) => (await world.call({ url })).body.data as unknown;
  /** Returns the history of a page, the newest entry first. */
  const historyOf = async (path: string) =>
    ((await get(`/v1/pages?url=${encodeURIComponent(site.origin + path)}`)) as Answer).items;

  test('a page that has changed back is told as such, and one that failed is compared with the last that did not', async () => {
    const changes = byPath(await diff(1, 2, { type: ALL }));
    expect(changes.get('/revert')).toMatchObject({ type: 'REVERTED', changed: ['text'] });
    expect(changes.get('/flaky')).toMatchObject({ type: 'UNCHANGED', previous: { price: 30 } });
    expect(changes.get('/list')?.type).toBe('UNCHANGED');
    expect(changes.get('/swap')?.type).toBe('UNCHANGED');
  });

  test('two contents of a page are compared in every way', async () => {
    const [later, earlier] = await historyOf('/swap');
    expect([earlier?.price, later?.price]).toEqual([19, 91]);
    const modes = async (mode: string) =>
      (await get(`/v1/snapshots/${earlier?.id}/diff/${later?.id}?mode=${mode}`)) as {
        readonly isChanged: boolean;
        readonly diff: unknown;
      };
    expect(await modes('rules')).toMatchObject({
      isChanged: true,
      diff: {
        fields: [{ field: 'price', before: 19, after: 91, difference: 72 }],
        texts: [{ name: 'text' }],
      },
    });
    for (const mode of ['text', 'word']) {
      const { diff: text } = (await modes(mode)) as { diff: { segments: { kind: string; text: string }[] } };
      const changed = text.segments.filter(({ kind }) => kind === 'removed' || kind === 'added');
      expect(changed.map(({ kind, text: words }) => `${kind} ${words}`)).toEqual(['removed 19', 'added 91']);
    }
    expect(await modes('line')).toMatchObject({ isChanged: true, diff: { isCoarse: false } });
    expect(await modes('html')).toMatchObject({
      isChanged: true,
      diff: {
        html: expect.stringContaining('<del>19</del><ins>91</ins>'),
        changes: [{ before: '19', after: '91' }],
      },
    });
    expect(await modes('json')).toMatchObject({
      diff: { patch: [{ op: 'replace', path: '/price', value: 91 }] },
    });
    expect(await modes('fields')).toMatchObject({ diff: [{ field: 'price' }] });
    const same = await get(`/v1/snapshots/${later?.id}/diff/${later?.id}?mode=html`);
    expect(same).toMatchObject({ isChanged: false, diff: { changes: [] } });
  });

  test('the command line compares the last two contents of a URL', async () => {
    for (const { args, env } of await openPlaces()) {
      const words = await runCommand(['diff', `${site.origin}/swap`, ...args], { env });
      expect(words).toMatchObject({ exitCode: 10, stderr: '' });
      expect(words.stdout).toContain('price: 19 → 91\n');
      expect(words.stdout).toContain('[-19-]{+91+}');
      const lines = await runCommand(['diff', `${site.origin}/swap`, '--mode', 'line', ...args], { env });
      expect(lines.stdout).toContain('-19.00 EUR\n+91.00 EUR\n');
      const once = await runCommand(['diff', `${site.origin}/stable`, ...args], { env });
      expect(once).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('only one content') });
    }
  }, 120_000);

  test('what the snapshots do not have is refused with the field, and what is not there with 404', async () => {
    const [snapshot] = await historyOf('/swap');
    const visual = await world.call({
      url: `/v1/snapshots/${snapshot?.id}/diff/${snapshot?.id}?mode=visual`,
    });
    expect([visual.status, visual.body.error?.code]).toEqual([422, 'UNSUPPORTED_OPTION']);
    expect(visual.body.error?.details).toMatchObject([{ field: 'mode' }]);
    const missing = await world.call({ url: `/v1/snapshots/${snapshot?.id}/diff/snap_${'0'.repeat(32)}` });
    expect(missing.status).toBe(404);
  });
});
