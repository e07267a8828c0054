import {
  PAGE_COLUMN_FIELDS,
  type PageColumnField,
  type SnapshotColumnField,
} from '../../core/model/query-fields.ts';
import type {
  Aggregate,
  PlanColumn,
  PlanField,
  QueryCondition,
  QueryPlan,
  QueryPosition,
  QueryRow,
  QueryScope,
  QueryValue,
  RecordScan,
  RowQuery,
  ScannedPage,
  TextTest,
  TimeUnit,
} from '../../core/ports/query-store.ts';
import type { Row } from './rows.ts';

/** A statement with its values. Nothing that a caller wrote is in the text: names are of the catalogue, values are bound. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly QueryValue[];
}

type QueryTable = 'pages' | 'snapshots';

/** What the stores write differently. */
export interface SqlDialect {
  /** The tables of a source with the conditions that hold every row to its account; `?` stands for the account. */
  readonly tables: Readonly<
    Record<QueryTable, { from: string; where: string; place: readonly [string, string] }>
  >;
  /** Leaves out jobs that may show what stored credentials give access to. */
  readonly isPublic: Readonly<Record<QueryTable, string>>;
  readonly pages: Readonly<Record<PageColumnField, string>>;
  readonly snapshots: Readonly<Record<SnapshotColumnField, string>>;
  placeholder(number: number, value: QueryValue): string;
  /** False where the condition is unknown. */
  certain(condition: string): string;
  readonly textTests: Readonly<Record<TextTest, (text: string, part: string) => string>>;
  truncated(time: string, unit: TimeUnit): string;
  readonly aggregates: Readonly<Record<Exclude<Aggregate, 'count'>, (value: string) => string>>;
}

const OPERATORS = { eq: '=', lt: '<', lte: '<=', gt: '>', gte: '>=' } as const;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** 1970-01-01 was a Thursday. */
const WEEK_SHIFT_DAYS = 3;

/** Units of equal length, by whole numbers; months and years need a calendar. */
export function truncatedEvenly(time: string, unit: 'hour' | 'day' | 'week'): string {
  if (unit === 'hour') return `(${time} / ${HOUR_MS}) * ${HOUR_MS}`;
  if (unit === 'day') return `(${time} / ${DAY_MS}) * ${DAY_MS}`;
  const shift = WEEK_SHIFT_DAYS * DAY_MS;
  return `((${time} + ${shift}) / ${7 * DAY_MS}) * ${7 * DAY_MS} - ${shift}`;
}

class StatementWriter {
  readonly values: QueryValue[] = [];
  readonly #dialect: SqlDialect;
  readonly #table: QueryTable;

  constructor(dialect: SqlDialect, table: QueryTable) {
    this.#dialect = dialect;
    this.#table = table;
  }

  bind(value: QueryValue): string {
    this.values.push(value);
    return this.#dialect.placeholder(this.values.length, value);
  }

  /** The tables and the conditions that no query can leave out. */
  from({ accountId, hasPrivate }: QueryScope): string {
    const { from, where } = this.#dialect.tables[this.#table];
    const scope = where.replace('?', this.bind(accountId));
    return `FROM ${from} WHERE ${scope}${hasPrivate ? '' : ` AND ${this.#dialect.isPublic[this.#table]}`}`;
  }

  place(): readonly [string, string] {
    return this.#dialect.tables[this.#table].place;
  }

  field({ column }: Pick<PlanField, 'column'>): string {
    const known: Readonly<Record<string, string>> = this.#dialect[this.#table];
    const sql = column === null ? undefined : known[column];
    if (sql === undefined) throw new Error(`No column of ${this.#table} is named ${column}.`);
    return sql;
  }

  column(column: PlanColumn): string {
    if (column.kind === 'field') {
      const sql = this.field(column.field);
      return column.unit === null ? sql : this.#dialect.truncated(sql, column.unit);
    }
    if (column.field === null) return 'count(*)';
    const value = this.field(column.field);
    return column.kind === 'count' ? `count(${value})` : this.#dialect.aggregates[column.kind](value);
  }

  condition(condition: QueryCondition): string {
    const { certain, textTests } = this.#dialect;
    switch (condition.kind) {
      case 'and':
      case 'or':
        return `(${condition.of.map((each) => this.condition(each)).join(` ${condition.kind.toUpperCase()} `)})`;
      case 'not':
        return `NOT ${this.condition(condition.of)}`;
      case 'isNull':
        return `(${this.field(condition.field)} IS NULL)`;
      case 'in': {
        const values = condition.values.map((value) => this.bind(value)).join(', ');
        return certain(`${this.field(condition.field)} IN (${values})`);
      }
      case 'eq':
      case 'lt':
      case 'lte':
      case 'gt':
      case 'gte':
        return certain(
          `${this.field(condition.field)} ${OPERATORS[condition.kind]} ${this.bind(condition.value)}`,
        );
      default:
        return certain(textTests[condition.kind](this.field(condition.field), this.bind(condition.value)));
    }
  }

  /** The rows behind a position, in the order of the plan: those that are equal up to a key and come later by it. */
  after({ values, row }: QueryPosition, order: QueryPlan['order']): string {
    const keys = order.map(({ column }) => this.column(column));
    const isSame = (index: number) => {
      const value = values[index] ?? null;
      return value === null ? `${keys[index]} IS NULL` : `${keys[index]} = ${this.bind(value)}`;
    };
    const alternatives = order.flatMap(({ isDescending }, index) => {
      const value = values[index] ?? null;
      // Nulls come last, so nothing comes after one.
      if (value === null) return [];
      const same = order.slice(0, index).map((_, before) => isSame(before));
      const later = `(${keys[index]} ${isDescending ? '<' : '>'} ${this.bind(value)} OR ${keys[index]} IS NULL)`;
      return [[...same, later].join(' AND ')];
    });
    const [job, page] = this.place();
    const place = `(${job}, ${page}) > (${this.bind(row[0])}, ${this.bind(row[1])})`;
    const last = [...order.map((_, index) => isSame(index)), place].join(' AND ');
    return this.#dialect.certain([...alternatives, last].map((each) => `(${each})`).join(' OR '));
  }
}

const direction = (isDescending: boolean) => `${isDescending ? 'DESC' : 'ASC'} NULLS LAST`;

/** The statement for a plan that columns answer. */
export function rowStatement(
  { scope, plan }: Pick<RowQuery, 'scope' | 'plan'>,
  dialect: SqlDialect,
): Statement {
  const writer = new StatementWriter(dialect, plan.source === 'snapshots' ? 'snapshots' : 'pages');
  const from = writer.from(scope);
  const where = plan.where === null ? '' : ` AND ${writer.condition(plan.where)}`;
  const statement = plan.isGrouped
    ? groupedStatement(plan, writer, from + where)
    : plainStatement(plan, writer, from + where);
  return { sql: `${statement} LIMIT ${Math.floor(plan.limit)}`, values: writer.values };
}

function plainStatement(plan: QueryPlan, writer: StatementWriter, from: string): string {
  const [job, page] = writer.place();
  const selected = [
    ...plan.columns.map((column, index) => `${writer.column(column)} AS v${index}`),
    ...plan.order.map(({ column }, index) => `${writer.column(column)} AS k${index}`),
    `${job} AS place_job`,
    `${page} AS place_page`,
  ];
  const after = plan.after === null ? '' : ` AND ${writer.after(plan.after, plan.order)}`;
  const order = [
    ...plan.order.map(({ column, isDescending }) => `${writer.column(column)} ${direction(isDescending)}`),
    `${job}, ${page}`,
  ];
  return `SELECT ${selected.join(', ')} ${from}${after} ORDER BY ${order.join(', ')}`;
}

function groupedStatement(plan: QueryPlan, writer: StatementWriter, from: string): string {
  const columns = plan.columns.map((column) => writer.column(column));
  const keys = plan.columns.flatMap(({ kind }, index) => (kind === 'field' ? [String(index + 1)] : []));
  const selected = columns.map((sql, index) => `${sql} AS v${index}`).join(', ');
  const group = keys.length === 0 ? '' : ` GROUP BY ${keys.join(', ')}`;
  const order = [
    ...plan.order.map(
      ({ column, isDescending }) => `${plan.columns.indexOf(column) + 1} ${direction(isDescending)}`,
    ),
    ...keys.map((key) => `${key} ${direction(false)}`),
  ];
  return `SELECT ${selected} ${from}${group}${order.length === 0 ? '' : ` ORDER BY ${order.join(', ')}`}`;
}

/** Pages with their records from a place on, without a limit of bytes. `p` is the table of pages. */
export function scanStatement(scan: RecordScan, dialect: SqlDialect): Statement {
  const writer = new StatementWriter(dialect, 'pages');
  const from = writer.from(scan.scope);
  const where = scan.where === null ? '' : ` AND ${writer.condition(scan.where)}`;
  const [job, page] = writer.place();
  const start =
    scan.from === null
      ? ''
      : ` AND (${job}, ${page}) ${scan.from.isIncluded ? '>=' : '>'} (${writer.bind(scan.from.job)}, ${writer.bind(scan.from.page)})`;
  const columns = scan.columns.map((column) => `${writer.field({ column })} AS "${column}"`);
  const selected = [`${job} AS place_job`, `${page} AS place_page`, 'p.record', ...columns].join(', ');
  return {
    sql: `SELECT ${selected} ${from}${where}${start} ORDER BY ${job}, ${page} LIMIT ${Math.floor(scan.limit)}`,
    values: writer.values,
  };
}

/** What a row of the database says, by the types of the plan. */
export function queryRowOf(row: Row, plan: QueryPlan): QueryRow {
  return {
    values: plan.columns.map((column, index) => columnValueOf(row[`v${index}`], column)),
    order: plan.isGrouped
      ? []
      : plan.order.map(({ column }, index) => columnValueOf(row[`k${index}`], column)),
    place: plan.isGrouped ? null : [Number(row.place_job), Number(row.place_page), 0],
  };
}

function columnValueOf(value: unknown, { kind, field }: PlanColumn): QueryValue | null {
  if (value === null || value === undefined) return null;
  const type = kind === 'field' || kind === 'min' || kind === 'max' ? field?.type : 'number';
  return scalarOf(value, type === 'text' ? 'text' : type === 'boolean' ? 'boolean' : 'number');
}

function scalarOf(value: unknown, type: 'text' | 'number' | 'boolean'): QueryValue | null {
  if (value === null || value === undefined) return null;
  if (type === 'text') return String(value);
  return type === 'boolean' ? Boolean(value) : Number(value);
}

/** A page of a scan. Its record is a piece of memory of its own, so that it can be handed to another thread. */
export function scannedPageOf(row: Row, columns: readonly PageColumnField[]): ScannedPage {
  const values = columns.map((column) => {
    const type = PAGE_COLUMN_FIELDS[column].type === 'text' ? 'text' : 'number';
    return [column, scalarOf(row[column], type)] as const;
  });
  return {
    job: Number(row.place_job),
    page: Number(row.place_page),
    values: Object.fromEntries(values),
    record: row.record === null ? null : new Uint8Array(row.record as Uint8Array),
  };
}

/** A page is public, by its job (j): it was not fetched by a session of the account that reads with credentials. */
export const IS_PUBLIC_PAGE = {
  sqlite: `coalesce(json_extract(j.options, '$.credentials') = 'read'
      AND json_extract(j.options, '$.page.session') IS NOT NULL, 0) = 0`,
  postgres: `coalesce(j.options ->> 'credentials' = 'read' AND j.options -> 'page' ->> 'session' IS NOT NULL, false) = false`,
};
