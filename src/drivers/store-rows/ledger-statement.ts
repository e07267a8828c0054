import type { Attempt } from '../../core/model/attempt.ts';
import {
  type LedgerFilter,
  type LedgerOrder,
  type LedgerRowQuery,
  ROWS_PER_LOOK,
} from '../../core/ports/ledger-view-store.ts';
import type { Statement } from './query-sql.ts';
import type { Row } from './rows.ts';

/** What the stores write differently about the ledger. `t` is the table of tasks, `p` that of pages. */
export interface LedgerDialect {
  placeholder(number: number, type: 'text' | 'integer' | 'real'): string;
  /** A condition that ends a query that has had its time; empty where the server sees to that. */
  readonly withinLimit: string;
  /** A value of the last attempt. */
  lastText(name: keyof Attempt): string;
  lastNumber(name: keyof Attempt): string;
  /** The text up to a character, whole where it does not occur. */
  upTo(text: string, character: string): string;
  /** Case is ignored for ASCII letters. */
  contains(text: string, part: string): string;
  /** Returns an expression that compares the text by its bytes. */
  byBytes(text: string): string;
}

/** Runs one statement that only reads. */
export type RunStatement = (statement: Statement, limitMs: number) => Promise<readonly Row[]>;

export class LedgerStatement {
  readonly values: (string | number)[] = [];
  readonly #dialect: LedgerDialect;

  constructor(dialect: LedgerDialect) {
    this.#dialect = dialect;
  }

  text(value: string): string {
    this.values.push(value);
    return this.#dialect.placeholder(this.values.length, 'text');
  }

  number(value: number): string {
    this.values.push(value);
    return this.#dialect.placeholder(this.values.length, Number.isInteger(value) ? 'integer' : 'real');
  }

  statusCode(): string {
    // The attempt first: the rows of pages are long, and are read only where it has none.
    return `coalesce(${this.#dialect.lastNumber('statusCode')}, p.status_code)`;
  }

  where(job: number, filter: LedgerFilter): string {
    const { withinLimit, lastText, contains } = this.#dialect;
    const conditions = [withinLimit, `t.job_seq = ${this.number(job)}`].filter((each) => each !== '');
    const { kind, state, text, reason, engine, contentType, statusClass, statusCode, host, depth } = filter;
    if (kind !== undefined) conditions.push(`t.kind = ${this.text(kind)}`);
    if (state !== undefined) conditions.push(`t.state = ${this.text(state)}`);
    if (depth !== undefined) conditions.push(`t.depth = ${this.number(depth)}`);
    if (host !== undefined)
      conditions.push(`t.host_id = (SELECT id FROM hosts WHERE key = ${this.text(host)})`);
    if (reason !== undefined) {
      const wanted = this.text(reason);
      const start = this.text(`${reason}:`);
      conditions.push(
        `(t.error_code = ${wanted} OR t.rule = ${wanted} OR substr(t.rule, 1, length(${start})) = ${start})`,
      );
    }
    if (engine !== undefined) conditions.push(`${lastText('engine')} = ${this.text(engine)}`);
    if (contentType !== undefined) {
      const start = this.text(contentType.toLowerCase());
      conditions.push(`substr(lower(p.content_type), 1, length(${start})) = ${start}`);
    }
    if (statusCode !== undefined) conditions.push(`${this.statusCode()} = ${this.number(statusCode)}`);
    if (statusClass === 'none') conditions.push(`${this.statusCode()} IS NULL`);
    else if (statusClass !== undefined) {
      const first = Number(statusClass[0]) * 100;
      conditions.push(`${this.statusCode()} BETWEEN ${this.number(first)} AND ${this.number(first + 99)}`);
    }
    if (text !== undefined) {
      const part = this.text(text);
      conditions.push(`(${contains('t.url', part)} OR ${contains("coalesce(p.title, '')", part)})`);
    }
    return conditions.join(' AND ');
  }

  key(order: LedgerOrder): string {
    const { byBytes, lastNumber } = this.#dialect;
    switch (order) {
      case 'discoveredAt':
        return 't.id';
      case 'url':
        return byBytes('t.url');
      case 'title':
        return byBytes('p.title');
      case 'statusCode':
        return this.statusCode();
      case 'finishedAt':
        return 't.finished_at';
      case 'bytes':
        return 'p.bytes';
      case 'durationMs':
        return lastNumber('ms');
      case 'depth':
        return 't.depth';
    }
  }
}

export const isFiltered = (filter: LedgerFilter): boolean =>
  Object.values(filter).some((value) => value !== undefined);

export const LEDGER_TABLES = 'tasks t LEFT JOIN pages p ON p.task_id = t.id';

/** The last of the next `ROWS_PER_LOOK` URLs; null when the ledger ends before. */
export async function lookEnd(
  run: RunStatement,
  dialect: LedgerDialect,
  { job, isDescending, limitMs }: Pick<LedgerRowQuery, 'job' | 'isDescending' | 'limitMs'>,
  after: number | null,
): Promise<number | null> {
  const statement = new LedgerStatement(dialect);
  const [later, direction] = isDescending ? ['<', 'DESC'] : ['>', 'ASC'];
  const from = after === null ? '' : ` AND t.id ${later} ${statement.number(after)}`;
  const [row] = await run(
    {
      sql: `SELECT t.id FROM tasks t WHERE t.job_seq = ${statement.number(job)}${from}
        ORDER BY t.id ${direction} LIMIT 1 OFFSET ${ROWS_PER_LOOK - 1}`,
      values: statement.values,
    },
    limitMs,
  );
  return row === undefined ? null : Number(row.id);
}

/** Rows by their ids, which are numbers of this store. `t` is the table of tasks. */
export async function rowsById(
  run: RunStatement,
  ids: readonly number[],
  select: string,
  limitMs: number,
): Promise<ReadonlyMap<number, Row>> {
  if (ids.length === 0) return new Map();
  const rows = await run({ sql: `${select} WHERE t.id IN (${ids.join(', ')})`, values: [] }, limitMs);
  return new Map(rows.map((row) => [Number(row.id), row]));
}
