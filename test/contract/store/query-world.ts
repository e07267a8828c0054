import { createHash, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { evaluate, type SourceRow } from '../../../src/capabilities/query/evaluate.ts';
import { parseQuery, type QueryRequest } from '../../../src/capabilities/query/parse-query.ts';
import { rowsOfPage } from '../../../src/capabilities/query/source-rows.ts';
import type { AccountId, ContentHash, JobId, SnapshotId, UrlKey } from '../../../src/core/model/ids.ts';
import type { NewPage, PageRecord } from '../../../src/core/model/page.ts';
import { packRecord } from '../../../src/core/model/page-record.ts';
import { QUERY_CATALOGUE, QUERY_SOURCES, type QuerySource } from '../../../src/core/model/query-fields.ts';
import type { EventCursor } from '../../../src/core/ports/event-store.ts';
import { TIME_UNITS } from '../../../src/core/ports/query-store.ts';
import { at, completion, createJob, DONE, FAILED, newPage, newTask, OPTIONS, T0, take } from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

/** A page as it was handed to the store. */
interface KnownPage {
  readonly jobId: JobId;
  readonly page: NewPage;
  readonly record: PageRecord | null;
}

const TITLES = [
  null,
  'Straße',
  'strasse',
  'Über uns',
  '東京 a',
  '😀 smile',
  '',
  'a_b%c',
  "it's",
  'Zebra',
  '\uffee end',
];
const LINK_TEXTS = ['Home', 'über', '', 'Buy now', '😀'];
const DAY_MS = 86_400_000;

/** Null and equal values, texts of all planes, times over years, and records that are long enough to be compressed. */
function contentOf(host: string, n: number): { changes: Partial<NewPage>; record: PageRecord | null } {
  const isFailed = n % 5 === 0;
  const record: PageRecord | null =
    n % 9 === 0
      ? null
      : {
          outcome: n % 4 === 0 ? 'soft-404' : 'ok',
          metadata: null,
          links: Array.from({ length: n % 4 }, (_, link) => ({
            url: link % 2 === 0 ? `https://${host}/${link}` : `https://other.test/${n}`,
            text: LINK_TEXTS[(n + link) % LINK_TEXTS.length] ?? '',
            rel: link % 3 === 0 ? 'nofollow' : '',
            from: 'a',
          })),
          ...(n % 3 === 0
            ? {
                extracted: { price: n % 5 === 0 ? null : n / 4, name: `Thing ${n % 3}`, tags: ['a', 'b'] },
                extractedType: n % 2 === 0 ? 'product' : null,
                extractedProbability: (n % 10) / 10,
              }
            : {}),
          ...(n % 11 === 0 ? { html: 'x'.repeat(70_000) } : {}),
        };
  return {
    record,
    changes: {
      statusCode: isFailed ? (n % 2 === 0 ? null : 500) : 200,
      title: TITLES[n % TITLES.length] ?? null,
      bytes: (n * 977) % 5_000,
      contentType: n % 3 === 0 ? null : 'text/html; charset=utf-8',
      fetchedAt: T0 + n * 3 * DAY_MS + n * 1_234_567,
      // Pages with the same body are duplicates by themselves.
      contentHash: createHash('sha256').update(`${host} ${n}`).digest('hex') as ContentHash,
      duplicateOf: n % 8 === 0 ? `https://${host}/0` : null,
      errorCode: isFailed ? 'CONNECT_FAILED' : null,
      errorMessage: isFailed ? 'It said "no".' : null,
      record: record === null ? null : packRecord(record),
    },
  };
}

/** Stores a job with pages of every kind and returns them in the order of the store. */
export async function storePages(
  store: TimedStore,
  accountId: AccountId,
  host: string,
  numbers: readonly number[],
): Promise<readonly KnownPage[]> {
  const urls = numbers.map((n) => `https://${host}/${n}${n % 3 === 0 ? '?q=%C3%BC' : ''}`);
  const job = await createJob(store, urls, { accountId });
  const { lease, tasks } = await take(store, host);
  const known = tasks.map((task, index) => {
    const { changes, record } = contentOf(host, numbers[index] ?? 0);
    return { jobId: job.id, task, page: newPage(task, changes), record };
  });
  await store.commit(
    known.map(({ task, page }) => completion(lease, task, page.errorCode === null ? DONE : FAILED, { page })),
    T0,
  );
  return known;
}

/** What a store has of an account, in its order. */
export interface KnownData {
  readonly pages: readonly KnownPage[];
  readonly snapshots: readonly Readonly<Record<string, unknown>>[];
}

/** Stores snapshots with and without an offer, and returns the fields of their rows. */
export async function storeSnapshots(
  store: TimedStore,
  accountId: AccountId,
  host: string,
  numbers: readonly number[],
): Promise<KnownData['snapshots']> {
  const id = randomUUID() as string as JobId;
  const job = { id, accountId, kind: 'crawl', seeds: [], createdAt: T0 } as const;
  await store.createJob({ ...job, options: { ...OPTIONS, snapshots: true } }, [newTask(`https://${host}/`)]);
  const { lease, tasks } = await take(store, host);
  const task = at(tasks, 0);
  await store.commit([completion(lease, task, DONE)], T0);
  // That of the page, which is to be there.
  const contentHash = newPage(task).contentHash as ContentHash;
  const rows = numbers.map((n) => ({
    id: `snap_${createHash('sha256').update(`${host} ${n}`).digest('hex').slice(0, 32)}` as SnapshotId,
    url: `https://${host}/${n % 7}`,
    hash: `hash ${n % 10}`,
    finalUrl: `https://${host}/${n % 7}`,
    statusCode: 200,
    contentType: n % 3 === 0 ? null : 'text/html',
    contentHash,
    bytes: (n * 977) % 5_000,
    title: TITLES[n % TITLES.length] ?? null,
    // Sums of these are exact, in any order.
    price: n % 4 === 0 ? null : n / 4,
    currency: n % 4 === 0 ? null : 'EUR',
    availability: n % 2 === 0 ? 'InStock' : null,
    jobId: id,
  }));
  const urlKey = (n: number) => `${host}${n}`.padEnd(22, '-').slice(0, 22) as UrlKey;
  const seenAt = (n: number) => T0 + n * 5 * DAY_MS;
  const after = (await store.readerCursor('snapshots')) as EventCursor;
  const [era, tx, seq = '0'] = after.split('-');
  await store.addSightings({
    after,
    next: `${era}-${tx}-${(Number.parseInt(seq, 36) + 1).toString(36)}` as EventCursor,
    facts: [],
    snapshots: rows.map((row, index) => ({
      ...row,
      accountId,
      urlKey: urlKey(numbers[index] ?? 0),
      textHash: row.hash,
      factsHash: null,
      charset: null,
      etag: null,
      lastModified: null,
      record: null,
      screenshot: null,
      taskId: task.id,
      isPrivate: false,
    })),
    sightings: rows.map((row, index) => ({
      accountId,
      urlKey: urlKey(numbers[index] ?? 0),
      url: row.url,
      snapshotId: row.id,
      jobId: id,
      taskId: task.id,
      seenAt: seenAt(numbers[index] ?? 0),
      etag: null,
      lastModified: null,
      contentHash,
    })),
  });
  // Snapshots stay, and its page does not.
  await store.deleteJob(id);
  return rows.map((row, index) => {
    const at = seenAt(numbers[index] ?? 0);
    return { ...row, host, firstSeenAt: at, lastSeenAt: at, timesSeen: 1 };
  });
}

/** The answer to a query by the plain evaluation, over data that never was in a store. */
export function answerOf(
  request: QueryRequest,
  { pages, snapshots }: KnownData,
): readonly (readonly unknown[])[] {
  const plan = parseQuery(request);
  const evaluation = evaluate(plan);
  const rows = plan.source === 'snapshots' ? snapshotRows(snapshots) : pageRows(plan.source, pages);
  for (const row of rows) if (evaluation.add(row)) break;
  return evaluation.finish().map(({ values }) => values.map((value) => value ?? null));
}

const snapshotRows = (snapshots: KnownData['snapshots']): SourceRow[] =>
  snapshots.map((row, index) => ({ place: [index, index, 0], valueOf: (name) => row[name] }));

function* pageRows(source: QuerySource, pages: readonly KnownPage[]): Generator<SourceRow> {
  const jobs = [...new Set(pages.map(({ jobId }) => jobId))];
  for (const [index, { jobId, page, record }] of pages.entries()) {
    const values = { ...page, jobId, jobKind: 'crawl', host: new URL(page.url).host };
    yield* rowsOfPage(source, { job: jobs.indexOf(jobId), page: index, values, record: null }, record);
  }
}

const TEXT_VALUES = [
  'a',
  'Straße',
  'straSSE',
  'über',
  '%',
  '_',
  "'",
  '😀',
  '京',
  'https://',
  'text/html',
  'product',
  'nofollow',
];
const NUMBERS = [0, 1, 2, 3.5, 200, 500, 977, 2_000, -1];
const TIMES = [T0, T0 + 40 * DAY_MS, T0 + 400 * DAY_MS, '2026-03-01', '2026-12-31T23:59:59Z'];

const pick = <T>(values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);

/** Any query of a source that the catalogue allows. */
export function anyQuery(): fc.Arbitrary<QueryRequest> {
  return pick(QUERY_SOURCES).chain((source) => {
    const fields = [...QUERY_CATALOGUE[source].values()].filter(({ type }) => type !== 'json');
    const names = [
      ...fields.map(({ name }) => name),
      ...(source === 'records' ? ['data.price', 'data.name'] : []),
    ];
    return fc
      .record({
        where: fc.option(anyCondition(source), { nil: undefined }),
        group: fc.option(fc.uniqueArray(anyGroup(source), { maxLength: 2, selector: nameOf }), {
          nil: undefined,
        }),
        counted: fc.uniqueArray(anyAggregate(source), { maxLength: 3, selector: (each) => each.as }),
        select: fc.uniqueArray(pick(names), { minLength: 1, maxLength: 5 }),
        order: fc.array(fc.tuple(fc.boolean(), fc.nat(20)), { maxLength: 3 }),
        limit: fc.integer({ min: 1, max: 60 }),
      })
      .map(({ where, group, counted, select, order, limit }): QueryRequest => {
        const columns =
          group === undefined
            ? names
            : [...group.map(nameOf), ...(counted.length === 0 ? ['count'] : counted.map(({ as }) => as))];
        return {
          from: source,
          ...(where === undefined ? {} : { where }),
          ...(group === undefined
            ? { select }
            : { group, ...(counted.length === 0 ? {} : { select: counted }) }),
          order: order.map(
            ([isDescending, at]) => `${isDescending ? '-' : ''}${columns[at % columns.length]}`,
          ),
          limit,
        };
      });
  });
}

const nameOf = (group: string | { readonly field: string }) =>
  typeof group === 'string' ? group : group.field;

function anyGroup(
  source: QuerySource,
): fc.Arbitrary<string | { readonly field: string; readonly by: string }> {
  const fields = [...QUERY_CATALOGUE[source].values()].filter(({ type }) => type !== 'json');
  return fc.oneof(
    pick(fields).map(({ name }) => name),
    fc
      .tuple(pick(TIME_UNITS), pick(fields.filter(({ type }) => type === 'time')))
      .map(([by, { name }]) => ({ field: name, by })),
  );
}

function anyAggregate(source: QuerySource) {
  const fields = [...QUERY_CATALOGUE[source].values()].filter(
    ({ type }) => type !== 'json' && type !== 'boolean',
  );
  const numbers = fields.filter(({ type }) => type === 'number');
  return fc.oneof(
    fc.constant({ fn: 'count', as: 'n' }),
    fc
      .tuple(pick(['count', 'countDistinct', 'min', 'max']), pick(fields))
      .map(([fn, { name }]) => ({ fn, field: name, as: `${fn}_of_${name}` })),
    fc
      .tuple(pick(['sum', 'avg']), pick(numbers))
      .map(([fn, { name }]) => ({ fn, field: name, as: `${fn}_of_${name}` })),
  );
}

function anyCondition(source: QuerySource): fc.Arbitrary<object> {
  const leaf = pick([...QUERY_CATALOGUE[source].values()].filter(({ type }) => type !== 'json')).chain(
    ({ name, type }) => {
      const values: readonly (string | number | boolean)[] = {
        text: TEXT_VALUES,
        number: NUMBERS,
        time: TIMES,
        boolean: [true, false],
      }[type as 'text' | 'number' | 'time' | 'boolean'];
      const isText = type === 'text';
      return fc.oneof(
        fc
          .tuple(pick(['eq', 'ne', 'lt', 'lte', 'gt', 'gte']), pick(values))
          .map(([op, value]) => ({ field: name, op, value })),
        fc
          .tuple(pick(['in', 'notIn']), fc.array(pick(values), { minLength: 1, maxLength: 4 }))
          .map(([op, value]) => ({ field: name, op, value })),
        pick(['isNull', 'isNotNull']).map((op) => ({ field: name, op })),
        ...(isText
          ? [
              fc
                .tuple(pick(['contains', 'startsWith', 'endsWith', 'icontains']), pick(TEXT_VALUES))
                .map(([op, value]) => ({ field: name, op, value })),
            ]
          : []),
      );
    },
  );
  const { tree } = fc.letrec<{ tree: object; node: object }>((tie) => ({
    tree: fc.oneof({ maxDepth: 3 }, leaf, tie('node')),
    node: fc.oneof(
      fc.array(tie('tree'), { minLength: 1, maxLength: 3 }).map((and) => ({ and })),
      fc.array(tie('tree'), { minLength: 1, maxLength: 3 }).map((or) => ({ or })),
      tie('tree').map((not) => ({ not })),
    ),
  }));
  return tree;
}
