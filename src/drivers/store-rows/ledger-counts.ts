import type { ErrorCode } from '../../core/errors/registry.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { UrlKey } from '../../core/model/ids.ts';
import type { TaskKind, TaskState } from '../../core/model/task.ts';
import {
  type LedgerCountQuery,
  type LedgerCounts,
  type LedgerGroup,
  type LedgerPath,
  type LedgerPathQuery,
  type LedgerState,
  PAGES_PER_COUNT,
} from '../../core/ports/ledger-view-store.ts';
import {
  isFiltered,
  LEDGER_TABLES,
  type LedgerDialect,
  LedgerStatement,
  lookEnd,
  type RunStatement,
  rowsById,
} from './ledger-statement.ts';
import type { Row } from './rows.ts';

/** Combinations of one count; what is beyond them is left out, the rarest first. */
const MOST_GROUPS = 5_000;

const COUNTED_STATES = ['done', 'failed', 'skipped', 'denied'] as const;
const STATE_COUNTS = COUNTED_STATES.map(
  (state) => `count(CASE WHEN t.state = '${state}' THEN 1 END) AS ${state}`,
).join(', ');

const stateCountsOf = (row: Row) => ({
  urls: Number(row.urls),
  done: Number(row.done),
  failed: Number(row.failed),
  skipped: Number(row.skipped),
  denied: Number(row.denied),
});

type Group = Omit<LedgerGroup, 'example'> & { readonly example: number };
type Point = LedgerCounts['timeline'][number];

/** URLs from one on up to another; null: from the first, or to the last. */
interface Range {
  readonly after: number | null;
  readonly end: number | null;
}

/**
 * Counts the ledger in ranges of URLs, so that other queries come in between and no sort outgrows its memory.
 * `limitMs` is for all of them.
 */
export async function countLedger(
  run: RunStatement,
  dialect: LedgerDialect,
  query: LedgerCountQuery,
): Promise<LedgerCounts> {
  const endsAt = performance.now() + query.limitMs;
  const groups = new Map<string, Group>();
  const points = new Map<number, Point>();
  let after: number | null = null;
  do {
    if (performance.now() > endsAt) {
      throw new ScrapifieError('QUERY_TIMEOUT', 'The job has too many URLs to be counted in time.');
    }
    const end = await lookEnd(run, dialect, { ...query, isDescending: false }, after);
    for (const group of await countGroups(run, dialect, query, { after, end })) add(groups, group);
    for (const point of await countTimes(run, dialect, query, { after, end })) {
      const known = points.get(point.at);
      points.set(point.at, known === undefined ? point : sumOf(known, point));
    }
    after = end;
  } while (after !== null);
  const frequent = [...groups.values()].sort((a, b) => b.urls - a.urls || a.example - b.example);
  return {
    groups: await withExamples(run, frequent.slice(0, MOST_GROUPS), query.limitMs),
    hosts: await countHosts(run, dialect, query),
    contentTypes: await countContentTypes(run, dialect, query),
    timeline: [...points.values()].sort((a, b) => a.at - b.at).slice(-query.most),
  };
}

function add(groups: Map<string, Group>, group: Group): void {
  const { kind, state, cause, errorCode, depth, engine, statusCode } = group;
  const key = JSON.stringify([kind, state, cause, errorCode, depth, engine, statusCode]);
  const known = groups.get(key);
  if (known === undefined && groups.size >= MOST_GROUPS * 2) return;
  groups.set(
    key,
    known === undefined
      ? group
      : {
          ...known,
          urls: known.urls + group.urls,
          bytes: known.bytes + group.bytes,
          durationMs: known.durationMs + group.durationMs,
          microcredits: known.microcredits + group.microcredits,
        },
  );
}

const sumOf = (one: Point, other: Point): Point => ({
  at: one.at,
  done: one.done + other.done,
  failed: one.failed + other.failed,
  bytes: one.bytes + other.bytes,
});

function within(
  statement: LedgerStatement,
  { job, filter }: LedgerCountQuery,
  { after, end }: Range,
): string {
  const conditions = [statement.where(job, filter)];
  if (after !== null) conditions.push(`t.id > ${statement.number(after)}`);
  if (end !== null) conditions.push(`t.id <= ${statement.number(end)}`);
  return conditions.join(' AND ');
}

async function countGroups(run: RunStatement, dialect: LedgerDialect, query: LedgerCountQuery, range: Range) {
  const { upTo, lastText, lastNumber } = dialect;
  const statement = new LedgerStatement(dialect);
  const where = within(statement, query, range);
  const rows = await run(
    {
      sql: `SELECT t.kind, t.state, ${upTo('t.rule', ':')} AS cause, t.error_code, t.depth,
          ${lastText('engine')} AS engine, ${statement.statusCode()} AS status_code, count(*) AS urls,
          coalesce(sum(${lastNumber('bytes')}), 0) AS bytes, coalesce(sum(${lastNumber('ms')}), 0) AS ms,
          coalesce(sum(${lastNumber('microcredits')}), 0) AS microcredits, min(t.id) AS example
        FROM ${LEDGER_TABLES} WHERE ${where} GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 8 DESC, 12 LIMIT ${MOST_GROUPS}`,
      values: statement.values,
    },
    query.limitMs,
  );
  return rows.map(groupOf);
}

async function countTimes(run: RunStatement, dialect: LedgerDialect, query: LedgerCountQuery, range: Range) {
  const statement = new LedgerStatement(dialect);
  const where = within(statement, query, range);
  // In the text, because whole numbers are divided only where both are known to be whole.
  const from = Math.floor(query.from);
  const step = Math.floor(query.bucketMs);
  const rows = await run(
    {
      sql: `SELECT (t.finished_at - ${from}) / ${step} AS point, count(CASE WHEN t.state = 'done' THEN 1 END) AS done,
          count(CASE WHEN t.state = 'failed' THEN 1 END) AS failed,
          coalesce(sum(${dialect.lastNumber('bytes')}), 0) AS bytes
        FROM ${LEDGER_TABLES} WHERE ${where} AND t.finished_at >= ${from} AND t.state IN ('done', 'failed')
        GROUP BY 1 ORDER BY 1 DESC LIMIT ${Math.floor(query.most)}`,
      values: statement.values,
    },
    query.limitMs,
  );
  return rows.map((row) => ({
    at: from + Number(row.point) * step,
    done: Number(row.done),
    failed: Number(row.failed),
    bytes: Number(row.bytes),
  }));
}

async function countHosts(
  run: RunStatement,
  dialect: LedgerDialect,
  { job, filter, most, limitMs }: LedgerCountQuery,
): Promise<LedgerCounts['hosts']> {
  const statement = new LedgerStatement(dialect);
  const where = statement.where(job, filter);
  const rows = await run(
    {
      sql: `SELECT h.key AS host, c.* FROM (
          SELECT t.host_id, count(*) AS urls, ${STATE_COUNTS}
          FROM ${LEDGER_TABLES} WHERE ${where} GROUP BY t.host_id ORDER BY 2 DESC, 1 LIMIT ${Math.floor(most)}
        ) c JOIN hosts h ON h.id = c.host_id ORDER BY c.urls DESC, c.host_id`,
      values: statement.values,
    },
    limitMs,
  );
  return rows.map((row) => ({ host: String(row.host), ...stateCountsOf(row) }));
}

export async function listLedgerPaths(
  run: RunStatement,
  dialect: LedgerDialect,
  { job, under, after, limit, limitMs }: LedgerPathQuery,
): Promise<readonly LedgerPath[]> {
  const statement = new LedgerStatement(dialect);
  const where = [statement.where(job, { kind: 'page' })];
  const start = under === '' ? '' : statement.text(under);
  if (under !== '') where.push(`substr(t.url, 1, length(${start})) = ${start}`);
  // The slashes of the scheme belong to the origin and separate nothing.
  const rest =
    under === ''
      ? `replace(replace(t.url, 'https://', 'https:||'), 'http://', 'http:||')`
      : dialect.upTo(`substr(t.url, length(${start}) + 1)`, '?');
  const part = `CASE WHEN replace(rest, '/', '') = rest THEN rest ELSE ${dialect.upTo('rest', '/')} || '/' END`;
  const name = dialect.byBytes('name');
  const behind =
    after === undefined
      ? ''
      : `WHERE ${name} > ${statement.text(after.replace('://', under === '' ? ':||' : '://'))}`;
  const rows = await run(
    {
      sql: `SELECT name, count(*) AS urls, ${STATE_COUNTS} FROM (
          SELECT ${part} AS name, state FROM (SELECT ${rest} AS rest, t.state FROM tasks t WHERE ${where.join(' AND ')}) u
        ) t ${behind} GROUP BY name ORDER BY ${name} LIMIT ${Math.floor(limit)}`,
      values: statement.values,
    },
    limitMs,
  );
  return rows.map((row) => ({
    name: under === '' ? String(row.name).replace(':||', '://') : String(row.name),
    ...stateCountsOf(row),
  }));
}

export async function findLedgerStates(
  run: RunStatement,
  dialect: LedgerDialect,
  [job, urlKeys, limitMs]: readonly [number, readonly UrlKey[], number],
): Promise<readonly LedgerState[]> {
  if (urlKeys.length === 0) return [];
  const statement = new LedgerStatement(dialect);
  const seq = statement.number(job);
  const keys = urlKeys.map((key) => statement.text(key)).join(', ');
  const rows = await run(
    {
      sql: `SELECT t.url_key, t.state, t.rule, t.error_code, ${statement.statusCode()} AS status_code
        FROM ${LEDGER_TABLES} WHERE t.job_seq = ${seq} AND t.url_key IN (${keys})`,
      values: statement.values,
    },
    limitMs,
  );
  return rows.map((row) => ({
    urlKey: row.url_key as UrlKey,
    state: row.state as TaskState,
    rule: row.rule as string | null,
    errorCode: row.error_code as ErrorCode | null,
    statusCode: row.status_code === null ? null : Number(row.status_code),
  }));
}

async function countContentTypes(
  run: RunStatement,
  dialect: LedgerDialect,
  { job, filter, most, limitMs }: LedgerCountQuery,
): Promise<LedgerCounts['contentTypes']> {
  const statement = new LedgerStatement(dialect);
  const { kind, ...others } = filter;
  // Pages of every URL come in the order of their own index; those of a filter in the order of the URLs.
  const isOfAll = !isFiltered(others) && (kind === undefined || kind === 'page');
  const looked = isOfAll
    ? `SELECT p.content_type, p.bytes FROM pages p WHERE p.job_seq = ${statement.number(job)}
        ORDER BY p.seq LIMIT ${PAGES_PER_COUNT}`
    : `SELECT p.content_type, p.bytes FROM tasks t JOIN pages p ON p.task_id = t.id
        WHERE ${statement.where(job, filter)} ORDER BY t.id LIMIT ${PAGES_PER_COUNT}`;
  const rows = await run(
    {
      sql: `SELECT ${dialect.upTo('lower(content_type)', ';')} AS type, count(*) AS pages, sum(bytes) AS bytes
        FROM (${looked}) looked GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ${Math.floor(most)}`,
      values: statement.values,
    },
    limitMs,
  );
  return rows.map((row) => ({
    contentType: row.type === null ? null : String(row.type).trim(),
    pages: Number(row.pages),
    bytes: Number(row.bytes),
  }));
}

async function withExamples(
  run: RunStatement,
  groups: readonly Group[],
  limitMs: number,
): Promise<readonly LedgerGroup[]> {
  const ids = groups.map(({ example }) => example);
  const found = await rowsById(run, ids, 'SELECT t.id, t.url, t.rule FROM tasks t', limitMs);
  return groups.map((group) => {
    const row = found.get(group.example);
    return { ...group, example: { url: String(row?.url ?? ''), rule: (row?.rule ?? null) as string | null } };
  });
}

function groupOf(row: Row): Group {
  return {
    kind: row.kind as TaskKind,
    state: row.state as TaskState,
    cause: row.cause as string | null,
    errorCode: row.error_code as ErrorCode | null,
    depth: Number(row.depth),
    engine: row.engine as string | null,
    statusCode: row.status_code === null ? null : Number(row.status_code),
    urls: Number(row.urls),
    bytes: Number(row.bytes),
    durationMs: Number(row.ms),
    microcredits: Number(row.microcredits),
    example: Number(row.example),
  };
}
