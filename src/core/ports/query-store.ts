import type { AccountId } from '../model/ids.ts';
import type { PageColumnField, QueryColumn, QueryFieldType, QuerySource } from '../model/query-fields.ts';

/** A value that a field is compared with. Times are epoch milliseconds. */
export type QueryValue = string | number | boolean;

export const COMPARISONS = ['eq', 'lt', 'lte', 'gt', 'gte'] as const;
export type Comparison = (typeof COMPARISONS)[number];
/** `icontains` takes the ASCII letters A to Z and a to z for the same. */
export const TEXT_TESTS = ['contains', 'startsWith', 'endsWith', 'icontains'] as const;
export type TextTest = (typeof TEXT_TESTS)[number];

/**
 * A condition is true or false, never unknown: a comparison with a field that is null is false, so its negation is true.
 * A value of another type than the field's is not equal to it and neither less nor greater.
 */
export type QueryCondition =
  | { readonly kind: Comparison; readonly field: PlanField; readonly value: QueryValue }
  | { readonly kind: TextTest; readonly field: PlanField; readonly value: string }
  | { readonly kind: 'in'; readonly field: PlanField; readonly values: readonly QueryValue[] }
  | { readonly kind: 'isNull'; readonly field: PlanField }
  | { readonly kind: 'and' | 'or'; readonly of: readonly QueryCondition[] }
  | { readonly kind: 'not'; readonly of: QueryCondition };

/** A field as the catalogue has it. */
export interface PlanField {
  readonly name: string;
  readonly type: QueryFieldType;
  readonly column: QueryColumn | null;
}

/** Times are cut to the beginning of the unit, in UTC; weeks begin on Monday. */
export const TIME_UNITS = ['hour', 'day', 'week', 'month', 'year'] as const;
export type TimeUnit = (typeof TIME_UNITS)[number];

export const AGGREGATES = ['count', 'countDistinct', 'sum', 'avg', 'min', 'max'] as const;
export type Aggregate = (typeof AGGREGATES)[number];

/** A value of each row, or of each group. */
export type PlanColumn =
  | { readonly as: string; readonly kind: 'field'; readonly field: PlanField; readonly unit: TimeUnit | null }
  /** `field` null: counts rows. */
  | { readonly as: string; readonly kind: Aggregate; readonly field: PlanField | null };

export interface PlanOrder {
  readonly column: PlanColumn;
  readonly isDescending: boolean;
}

/** A query that was checked: everything in it is of the catalogue, and all values have the type of their field. */
export interface QueryPlan {
  readonly source: QuerySource;
  readonly where: QueryCondition | null;
  readonly columns: readonly PlanColumn[];
  /** Rows are put together by the columns of kind `field`; there is one row when there are none. */
  readonly isGrouped: boolean;
  /**
   * Nulls come last in either direction. Rows that are equal by it come in the order in which they were stored, groups in
   * that of their columns.
   */
  readonly order: readonly PlanOrder[];
  readonly limit: number;
  /** Rows after this one, for queries without groups. */
  readonly after: QueryPosition | null;
}

/** Where a row stands in the order of its query: the values of `order`, then the row itself. */
export interface QueryPosition {
  readonly values: readonly (QueryValue | null)[];
  readonly row: RowPlace;
}

/** The numbers of job and page, and the place of the row in the page. A snapshot has its own number as both. */
export type RowPlace = readonly [job: number, page: number, index: number];

/** Every field that the plan needs. */
export function fieldsOfPlan({ where, columns, order }: QueryPlan): readonly PlanField[] {
  const named = [...columns, ...order.map(({ column }) => column)].flatMap(({ field }) => field ?? []);
  return [...named, ...(where === null ? [] : fieldsOfCondition(where))];
}

function fieldsOfCondition(condition: QueryCondition): readonly PlanField[] {
  if ('field' in condition) return [condition.field];
  return condition.kind === 'not' ? fieldsOfCondition(condition.of) : condition.of.flatMap(fieldsOfCondition);
}

/** Whether the database can answer by itself, without the packed records of pages. */
export const isOfColumns = (plan: QueryPlan): boolean =>
  (plan.source === 'pages' || plan.source === 'snapshots') &&
  fieldsOfPlan(plan).every(({ column }) => column !== null);

/** The part of a condition that columns decide: every row that fulfils the whole fulfils this. Null: nothing is known. */
export function columnPartOf(condition: QueryCondition | null): QueryCondition | null {
  if (condition === null) return null;
  if (condition.kind === 'and') {
    const parts = condition.of.flatMap((each) => columnPartOf(each) ?? []);
    return parts.length === 0 ? null : { kind: 'and', of: parts };
  }
  return fieldsOfCondition(condition).every(({ column }) => column !== null) ? condition : null;
}

/**
 * A part of the store: typed queries over what an account has stored. They are read from committed data by a connection
 * that cannot write, and hold up no other call of the store. A query that takes longer than its `limitMs` ends with
 * QUERY_TIMEOUT, in the database as well.
 *
 * Pages of jobs that are deleted, or whose URLs are, are not found. Every store gives the same rows in the same order.
 */
export interface QueryStore {
  /** The rows of a plan for which `isOfColumns` holds; `limit` of them at most. */
  queryRows(query: RowQuery): Promise<readonly QueryRow[]>;
  /** Pages with their packed records, in the order of their places, for what only these can answer. */
  scanRecords(query: RecordScan): Promise<readonly ScannedPage[]>;
}

/** Whose data a query sees. */
export interface QueryScope {
  readonly accountId: AccountId;
  /** Also pages of jobs that may show what stored credentials give access to. */
  readonly hasPrivate: boolean;
}

export interface RowQuery {
  readonly scope: QueryScope;
  readonly plan: QueryPlan;
  readonly limitMs: number;
}

/** One value for each column of the plan. Times are epoch milliseconds. */
export interface QueryRow {
  readonly values: readonly (QueryValue | null)[];
  /** For queries without groups: the values of the order, and the place of the row. */
  readonly order: readonly (QueryValue | null)[];
  readonly place: RowPlace | null;
}

export interface RecordScan {
  readonly scope: QueryScope;
  /** A condition on columns alone, since records are not unpacked here. */
  readonly where: QueryCondition | null;
  readonly columns: readonly PageColumnField[];
  /** Pages from this one on; null: from the first. */
  readonly from: { readonly job: number; readonly page: number; readonly isIncluded: boolean } | null;
  readonly limit: number;
  /** Pages after the one that brings the records to this many bytes are left for the next call. */
  readonly maxBytes: number;
  readonly limitMs: number;
}

export interface ScannedPage {
  readonly job: number;
  readonly page: number;
  /** The values by the names of their columns. */
  readonly values: Readonly<Partial<Record<PageColumnField, QueryValue | null>>>;
  /** Null when the page has none, or when it was deleted because its time was over. */
  readonly record: Uint8Array | null;
}
