import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type {
  Aggregate,
  PlanColumn,
  QueryCondition,
  QueryPlan,
  QueryPosition,
  QueryValue,
  RowPlace,
  TimeUnit,
} from '../../core/ports/query-store.ts';

/** A row before the query was applied: its fields by name, and where it stands. */
export interface SourceRow {
  readonly place: RowPlace;
  /** Anything that JSON has, or undefined. Times are numbers. */
  readonly valueOf: (field: string) => unknown;
}

/** A row of the result: what JSON may hold in each column. */
export interface EvaluatedRow {
  readonly values: readonly unknown[];
  readonly order: readonly (QueryValue | null)[];
  readonly place: RowPlace | null;
}

/** Groups, and different values in `countDistinct`, that are kept in memory for one query. */
const MOST_GROUPS = 50_000;
const MOST_DISTINCT = 500_000;

/** Evaluates a plan over rows that come in the order of their places. The database would give the same. */
export interface Evaluation {
  /** True when further rows cannot change the result any more. */
  add(row: SourceRow): boolean;
  finish(): readonly EvaluatedRow[];
}

export function evaluate(plan: QueryPlan): Evaluation {
  return plan.isGrouped ? new GroupedEvaluation(plan) : new PlainEvaluation(plan);
}

class PlainEvaluation implements Evaluation {
  readonly #plan: QueryPlan;
  #rows: EvaluatedRow[] = [];

  constructor(plan: QueryPlan) {
    this.#plan = plan;
  }

  add(row: SourceRow): boolean {
    const { where, columns, order, limit, after } = this.#plan;
    if (where !== null && !holds(where, row)) return false;
    const keys = order.map(({ column }) => scalarOf(shown(column, row)));
    const { place } = row;
    if (
      after !== null &&
      this.#compare({ order: keys, place }, { order: after.values, place: after.row }) <= 0
    ) {
      return false;
    }
    this.#rows.push({ values: columns.map((column) => shown(column, row)), order: keys, place });
    if (order.length === 0) return this.#rows.length >= limit;
    // Only the first ones can be in the result.
    if (this.#rows.length >= limit * 4 + 100) this.#cut();
    return false;
  }

  finish(): readonly EvaluatedRow[] {
    this.#cut();
    return this.#rows;
  }

  #cut(): void {
    if (this.#plan.order.length > 0) this.#rows.sort((a, b) => this.#compare(a, b));
    this.#rows = this.#rows.slice(0, this.#plan.limit);
  }

  #compare(a: Standing, b: Standing): number {
    for (const [index, { isDescending }] of this.#plan.order.entries()) {
      const difference = compareKeys(a.order[index] ?? null, b.order[index] ?? null, isDescending);
      if (difference !== 0) return difference;
    }
    return comparePlaces(a.place, b.place);
  }
}

type Standing = Pick<EvaluatedRow, 'order' | 'place'>;

const NO_PLACE: RowPlace = [0, 0, 0];

function comparePlaces(a: RowPlace | null, b: RowPlace | null): number {
  const [one, other] = [a ?? NO_PLACE, b ?? NO_PLACE];
  return one[0] - other[0] || one[1] - other[1] || one[2] - other[2];
}

interface Group {
  readonly keys: readonly (QueryValue | null)[];
  readonly tallies: readonly Tally[];
}

class GroupedEvaluation implements Evaluation {
  readonly #plan: QueryPlan;
  readonly #keys: readonly PlanColumn[];
  readonly #sums: readonly PlanColumn[];
  readonly #groups = new Map<string, Group>();
  readonly #budget = { distinct: MOST_DISTINCT };

  constructor(plan: QueryPlan) {
    this.#plan = plan;
    this.#keys = plan.columns.filter(({ kind }) => kind === 'field');
    this.#sums = plan.columns.filter(({ kind }) => kind !== 'field');
    // Without keys there is one group, also of no rows.
    if (this.#keys.length === 0) this.#groupOf([]);
  }

  add(row: SourceRow): boolean {
    const { where } = this.#plan;
    if (where !== null && !holds(where, row)) return false;
    const group = this.#groupOf(this.#keys.map((column) => scalarOf(shown(column, row))));
    for (const [index, { field }] of this.#sums.entries()) {
      group.tallies[index]?.add(field === null ? true : scalarOf(row.valueOf(field.name)));
    }
    return false;
  }

  finish(): readonly EvaluatedRow[] {
    const { columns, order, limit } = this.#plan;
    const rows = [...this.#groups.values()].map(({ keys, tallies }) => {
      const [key, sum] = [keys.values(), tallies.values()];
      const values = columns.map(({ kind }) =>
        kind === 'field' ? (key.next().value ?? null) : (sum.next().value?.result() ?? null),
      );
      return { values, order: [], place: null };
    });
    const sorting = [
      ...order.map(({ column, isDescending }) => ({ index: columns.indexOf(column), isDescending })),
      ...this.#keys.map((column) => ({ index: columns.indexOf(column), isDescending: false })),
    ];
    rows.sort((a, b) => {
      for (const { index, isDescending } of sorting) {
        const difference = compareKeys(a.values[index] ?? null, b.values[index] ?? null, isDescending);
        if (difference !== 0) return difference;
      }
      return 0;
    });
    return rows.slice(0, limit);
  }

  #groupOf(keys: readonly (QueryValue | null)[]): Group {
    const name = JSON.stringify(keys);
    const known = this.#groups.get(name);
    if (known !== undefined) return known;
    if (this.#groups.size >= MOST_GROUPS) throw tooLarge(`more than ${MOST_GROUPS} groups`);
    const group = {
      keys,
      tallies: this.#sums.map(({ kind }) => createTally(kind as Aggregate, this.#budget)),
    };
    this.#groups.set(name, group);
    return group;
  }
}

export const tooLarge = (what: string) =>
  new ScrapifieError(
    'QUERY_TOO_LARGE',
    `The query would look at ${what}. Narrow it by \`jobId\`, host or \`fetchedAt\`; or ask the lake by SQL.`,
  );

interface Tally {
  add(value: QueryValue | null): void;
  result(): QueryValue | null;
}

function createTally(kind: Aggregate, budget: { distinct: number }): Tally {
  let count = 0;
  let sum = 0;
  let best: QueryValue | null = null;
  const seen = new Set<QueryValue>();
  return {
    add(value) {
      if (value === null) return;
      if (kind === 'countDistinct') {
        const before = seen.size;
        seen.add(value);
        budget.distinct -= seen.size - before;
        if (budget.distinct < 0) throw tooLarge(`more than ${MOST_DISTINCT} different values`);
      } else if (kind === 'min' || kind === 'max') {
        const isBetter = best === null || compareKeys(value, best, kind === 'max') < 0;
        if (isBetter) best = value;
      } else if (kind === 'count') count += 1;
      else if (typeof value === 'number') {
        count += 1;
        sum += value;
      }
    },
    result() {
      if (kind === 'countDistinct') return seen.size;
      if (kind === 'count') return count;
      if (kind === 'min' || kind === 'max') return best;
      if (count === 0) return null;
      return kind === 'sum' ? sum : sum / count;
    },
  };
}

/** The value of a column of kind `field`. */
function shown(column: PlanColumn, row: SourceRow): unknown {
  const value = column.field === null ? null : (row.valueOf(column.field.name) ?? null);
  return column.kind === 'field' && column.unit !== null && typeof value === 'number'
    ? truncated(value, column.unit)
    : value;
}

/** Lists and objects cannot be compared, and count as null where values are. */
const scalarOf = (value: unknown): QueryValue | null =>
  typeof value === 'string' ||
  typeof value === 'boolean' ||
  (typeof value === 'number' && Number.isFinite(value))
    ? value
    : null;

const TYPE_ORDER = ['boolean', 'number', 'string'];

/** Nulls last in either direction; values of different types, which only JSON has, in the order of their types. */
export function compareKeys(a: unknown, b: unknown, isDescending: boolean): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  const difference = compareValues(a as QueryValue, b as QueryValue);
  return isDescending ? -difference : difference;
}

function compareValues(a: QueryValue, b: QueryValue): number {
  if (typeof a !== typeof b) return TYPE_ORDER.indexOf(typeof a) - TYPE_ORDER.indexOf(typeof b);
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b);
  return Number(a) - Number(b);
}

/** By code points, as the bytes of UTF-8 sort. */
function compareTexts(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const [one, other] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (one !== other) return shifted(one) - shifted(other);
  }
  return a.length - b.length;
}

/** Halves of surrogate pairs stand for code points above all others. */
const shifted = (unit: number) => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

export function holds(condition: QueryCondition, row: SourceRow): boolean {
  switch (condition.kind) {
    case 'and':
      return condition.of.every((each) => holds(each, row));
    case 'or':
      return condition.of.some((each) => holds(each, row));
    case 'not':
      return !holds(condition.of, row);
    default:
      return test(condition, scalarOf(row.valueOf(condition.field.name)));
  }
}

type Leaf = Exclude<QueryCondition, { readonly kind: 'and' | 'or' | 'not' }>;

function test(condition: Leaf, value: QueryValue | null): boolean {
  if (condition.kind === 'isNull') return value === null;
  if (value === null) return false;
  if (condition.kind === 'in') return condition.values.includes(value);
  if (typeof value !== typeof condition.value) return false;
  if (condition.kind === 'eq') return value === condition.value;
  if (typeof value === 'string' && typeof condition.value === 'string') {
    if (condition.kind === 'contains') return value.includes(condition.value);
    if (condition.kind === 'startsWith') return value.startsWith(condition.value);
    if (condition.kind === 'endsWith') return value.endsWith(condition.value);
    if (condition.kind === 'icontains') return asciiLower(value).includes(asciiLower(condition.value));
  }
  const difference = compareValues(value, condition.value);
  if (condition.kind === 'lt') return difference < 0;
  if (condition.kind === 'lte') return difference <= 0;
  if (condition.kind === 'gt') return difference > 0;
  return condition.kind === 'gte' && difference >= 0;
}

const asciiLower = (text: string) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const WEEK_SHIFT_MS = 3 * DAY_MS;

function truncated(time: number, unit: TimeUnit): number {
  if (unit === 'hour') return Math.floor(time / HOUR_MS) * HOUR_MS;
  if (unit === 'day') return Math.floor(time / DAY_MS) * DAY_MS;
  if (unit === 'week') return Math.floor((time + WEEK_SHIFT_MS) / (7 * DAY_MS)) * 7 * DAY_MS - WEEK_SHIFT_MS;
  const date = new Date(time);
  return Date.UTC(date.getUTCFullYear(), unit === 'year' ? 0 : date.getUTCMonth());
}

/** The position behind a row. */
export const positionOf = ({ order, place }: Pick<EvaluatedRow, 'order' | 'place'>): QueryPosition => ({
  values: order,
  row: place ?? NO_PLACE,
});
