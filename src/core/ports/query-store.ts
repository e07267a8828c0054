import type { AccountId } from '../model/ids.ts';
import type { PageColumnField } from '../model/query-fields.ts';
import type { QueryCondition, QueryPlan, QueryValue, RowPlace } from '../model/query-plan.ts';

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
