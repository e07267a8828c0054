import { hash } from 'node:crypto';
import {
  DEFAULT_SELECTION,
  QUERY_CATALOGUE,
  QUERY_SOURCES,
  type QueryField,
  type QuerySource,
  queryFieldOf,
} from '../../core/model/query-fields.ts';
import {
  AGGREGATES,
  type Aggregate,
  type PlanColumn,
  type PlanOrder,
  type QueryPlan,
  type QueryPosition,
  type QueryValue,
  type RowPlace,
  TIME_UNITS,
  type TimeUnit,
} from '../../core/ports/query-store.ts';
import { invalidRequest } from '../jobs/request/invalid-request.ts';
import { ConditionParser, QueryProblems, shortened, suggestion } from './parse-condition.ts';

/** Longer cursors were not given out here: order keys are titles and URLs at the longest. */
export const MOST_CURSOR_CHARS = 65_536;

/**
 * Where the next rows of a query begin. A cursor holds nothing but a position within the rows that the account may see
 * anyway, so it is not secret and need not be signed; a forged one leads to another position of the same rows.
 */
export function writeCursor(plan: QueryPlan, { values, row }: QueryPosition): string {
  return Buffer.from(JSON.stringify([digestOf(plan), values, row])).toString('base64url');
}

/** Throws VALIDATION_FAILED for what this query did not give out. */
function readPosition(cursor: string, plan: QueryPlan): QueryPosition {
  const refused = (message: string) => invalidRequest([{ field: 'cursor', message }]);
  const decoded = cursor.length > MOST_CURSOR_CHARS ? null : parsed(cursor);
  if (!Array.isArray(decoded) || decoded.length !== 3) throw refused('Not a cursor of a query.');
  const [digest, values, row] = decoded as unknown[];
  if (digest !== digestOf(plan)) {
    throw refused('The cursor is of another query: send it with the same query that it came from.');
  }
  if (!isValues(values, plan) || !isPlace(row)) throw refused('Not a cursor of a query.');
  return { values, row };
}

function parsed(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
}

/** Tells queries apart; `limit` may change from answer to answer. */
const digestOf = ({ source, where, columns, order }: QueryPlan) =>
  hash('sha256', JSON.stringify([source, where, columns, order]), 'base64url').slice(0, 16);

const TYPES = { text: 'string', number: 'number', time: 'number', boolean: 'boolean' } as const;

function isValues(values: unknown, { order }: QueryPlan): values is (QueryValue | null)[] {
  return (
    Array.isArray(values) &&
    values.length === order.length &&
    values.every((value, index) => {
      const type = order[index]?.column.field?.type ?? 'text';
      if (value === null) return true;
      if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())) return false;
      if (typeof value === 'number' && !Number.isFinite(value)) return false;
      return type === 'json'
        ? ['string', 'number', 'boolean'].includes(typeof value)
        : typeof value === TYPES[type];
    })
  );
}

const isPlace = (row: unknown): row is RowPlace =>
  Array.isArray(row) && row.length === 3 && row.every((each) => Number.isSafeInteger(each) && each >= 0);

/** A query as it is sent. What it names is checked here, against the catalogue. */
export interface QueryRequest {
  readonly from: string;
  readonly select?: readonly unknown[] | undefined;
  readonly where?: unknown;
  readonly group?: readonly unknown[] | undefined;
  readonly order?: readonly string[] | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export const QUERY_LIMITS = {
  /** Rows of one answer. */
  rows: 1_000,
  /** Groups of one answer. */
  groups: 10_000,
  defaultRows: 100,
  columns: 50,
  orders: 8,
} as const;

const ALIAS = /^[A-Za-z_][A-Za-z0-9_.]{0,63}$/;

/** Turns a request into a plan. Throws VALIDATION_FAILED, with an entry for each field that is wrong. */
export function parseQuery(request: QueryRequest): QueryPlan {
  const problems = new QueryProblems();
  const source = sourceOf(request.from, problems);
  problems.refuse();
  const parser = new QueryParser(source, problems);
  const group = (request.group ?? []).flatMap((each, index) => parser.groupColumn(each, `group.${index}`));
  const selected = parser.selection(request.select);
  const isGrouped = request.group !== undefined || selected.some(({ kind }) => kind !== 'field');
  const columns = isGrouped ? parser.groupedColumns(group, selected) : selected;
  parser.refuseRepeats(columns);
  const where = request.where === undefined ? null : parser.condition(request.where);
  const order = (request.order ?? []).flatMap((each, index) =>
    parser.order(each, `order.${index}`, columns, isGrouped),
  );
  if (order.length > QUERY_LIMITS.orders)
    problems.add('order', `must have at most ${QUERY_LIMITS.orders} entries`);
  const most = isGrouped ? QUERY_LIMITS.groups : QUERY_LIMITS.rows;
  const limit = request.limit ?? QUERY_LIMITS.defaultRows;
  if (!Number.isInteger(limit) || limit < 1 || limit > most) {
    problems.add('limit', `must be a whole number from 1 to ${most}`);
  }
  if (isGrouped && request.cursor !== undefined) {
    problems.add('cursor', 'is only for queries without groups; raise `limit` instead');
  }
  problems.refuse();
  const plan = { source, where, columns, isGrouped, order, limit, after: null };
  return request.cursor === undefined ? plan : { ...plan, after: readPosition(request.cursor, plan) };
}

function sourceOf(from: string, problems: QueryProblems): QuerySource {
  const source = QUERY_SOURCES.find((each) => each === from);
  if (source !== undefined) return source;
  problems.add('from', `must be one of ${QUERY_SOURCES.join(', ')}${suggestion(from, QUERY_SOURCES)}`);
  return 'pages';
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

class QueryParser {
  readonly #source: QuerySource;
  readonly #problems: QueryProblems;

  constructor(source: QuerySource, problems: QueryProblems) {
    this.#source = source;
    this.#problems = problems;
  }

  /** Undefined when there is no such field, which is a problem then. */
  field(name: unknown, at: string): QueryField | undefined {
    if (typeof name !== 'string') {
      this.#problems.add(at, 'must be the name of a field');
      return undefined;
    }
    const field = queryFieldOf(this.#source, name);
    if (field === undefined) {
      const known = QUERY_CATALOGUE[this.#source].keys();
      this.#problems.add(
        at,
        `There is no field "${shortened(name)}" of ${this.#source}${suggestion(name, known)}`,
      );
    }
    return field;
  }

  condition(where: unknown) {
    return new ConditionParser((name, at) => this.field(name, at), this.#problems).parse(where, 'where');
  }

  selection(select: QueryRequest['select']): PlanColumn[] {
    if (select === undefined) return [];
    if (select.length > QUERY_LIMITS.columns) {
      this.#problems.add('select', `must have at most ${QUERY_LIMITS.columns} entries`);
      return [];
    }
    return select.flatMap((each, index) => this.column(each, `select.${index}`));
  }

  /** `"bytes"`, `{ "field": "fetchedAt", "by": "day" }` or `{ "fn": "sum", "field": "bytes", "as": "total" }`. */
  column(given: unknown, at: string): PlanColumn[] {
    if (typeof given === 'string' || (isObject(given) && given.fn === undefined))
      return this.groupColumn(given, at);
    if (!isObject(given)) {
      this.#problems.add(at, 'must be the name of a field, or an object with `field` or `fn`');
      return [];
    }
    this.#refuseOthers(given, ['fn', 'field', 'as'], at);
    const fn = AGGREGATES.find((each) => each === given.fn);
    if (fn === undefined) {
      this.#problems.add(`${at}.fn`, `must be one of ${AGGREGATES.join(', ')}`);
      return [];
    }
    if (given.field === undefined && fn === 'count') {
      return [{ as: this.#alias(given.as, 'count', at), kind: fn, field: null }];
    }
    const field = this.field(given.field, `${at}.field`);
    if (field === undefined) return [];
    this.#requireAggregate(fn, field, at);
    return [{ as: this.#alias(given.as, `${fn}_${field.name}`, at), kind: fn, field }];
  }

  groupColumn(given: unknown, at: string): PlanColumn[] {
    if (typeof given === 'string') {
      const field = this.field(given, at);
      return field === undefined ? [] : [{ as: field.name, kind: 'field', field, unit: null }];
    }
    if (!isObject(given)) {
      this.#problems.add(at, 'must be the name of a field, or an object with `field`');
      return [];
    }
    this.#refuseOthers(given, ['field', 'by', 'as'], at);
    const field = this.field(given.field, `${at}.field`);
    if (field === undefined) return [];
    const unit = this.#unit(given.by, field, at);
    return [{ as: this.#alias(given.as, field.name, at), kind: 'field', field, unit }];
  }

  /** The columns of groups come first; `select` adds what is counted, and may repeat columns of the groups. */
  groupedColumns(group: readonly PlanColumn[], selected: readonly PlanColumn[]): PlanColumn[] {
    const plain = selected.filter(({ kind }) => kind === 'field');
    const counted = selected.filter(({ kind }) => kind !== 'field');
    for (const { as } of plain) {
      if (!group.some((column) => column.as === as)) {
        this.#problems.add(
          'select',
          `"${as}" is neither in \`group\` nor counted; add it to \`group\`, or use \`fn\``,
        );
      }
    }
    const counts: PlanColumn[] = counted.length > 0 ? counted : [{ as: 'count', kind: 'count', field: null }];
    return [...group, ...counts];
  }

  refuseRepeats(columns: readonly PlanColumn[]): void {
    const seen = new Set<string>();
    for (const { as } of columns) {
      if (seen.has(as))
        this.#problems.add('select', `"${shortened(as)}" is there twice; name one of them by \`as\``);
      seen.add(as);
    }
  }

  /** `"-bytes"` is from the largest down. */
  order(given: string, at: string, columns: readonly PlanColumn[], isGrouped: boolean): PlanOrder[] {
    const isDescending = given.startsWith('-');
    const name = isDescending ? given.slice(1) : given;
    const column = columns.find(({ as }) => as === name);
    if (column !== undefined) return [{ column, isDescending }];
    if (isGrouped) {
      const known = columns.map(({ as }) => as);
      this.#problems.add(at, `must be a column of the answer: ${known.join(', ')}${suggestion(name, known)}`);
      return [];
    }
    const field = this.field(name, at);
    return field === undefined
      ? []
      : [{ column: { as: name, kind: 'field', field, unit: null }, isDescending }];
  }

  #requireAggregate(fn: Aggregate, { name, type }: QueryField, at: string): void {
    const isSum = fn === 'sum' || fn === 'avg';
    if (isSum && type !== 'number' && type !== 'json') {
      this.#problems.add(`${at}.field`, `"${name}" is of type ${type}; \`${fn}\` needs a number`);
    }
  }

  #unit(by: unknown, { name, type }: QueryField, at: string): TimeUnit | null {
    if (by === undefined) return null;
    const unit = TIME_UNITS.find((each) => each === by);
    if (unit === undefined) this.#problems.add(`${at}.by`, `must be one of ${TIME_UNITS.join(', ')}`);
    else if (type !== 'time')
      this.#problems.add(`${at}.by`, `"${name}" is of type ${type}; \`by\` needs a time`);
    return unit ?? null;
  }

  #alias(as: unknown, otherwise: string, at: string): string {
    if (as === undefined) return otherwise;
    if (typeof as === 'string' && ALIAS.test(as)) return as;
    this.#problems.add(
      `${at}.as`,
      'must be 1 to 64 letters, digits, dots and underscores, and begin with a letter',
    );
    return otherwise;
  }

  #refuseOthers(given: object, known: readonly string[], at: string): void {
    for (const name of Object.keys(given)) {
      if (!known.includes(name)) {
        this.#problems.add(`${at}.${shortened(name)}`, `is not known here${suggestion(name, known)}`);
      }
    }
  }
}

/** The selection of a query that selects nothing. */
export function withDefaults(request: QueryRequest): QueryRequest {
  const source = QUERY_SOURCES.find((each) => each === request.from);
  const isPlain = request.select === undefined && request.group === undefined;
  return source !== undefined && isPlain ? { ...request, select: DEFAULT_SELECTION[source] } : request;
}
