import { hash } from 'node:crypto';
import type { QueryPlan, QueryPosition, QueryValue, RowPlace } from '../../core/ports/query-store.ts';
import { invalidRequest } from '../jobs/request/invalid-request.ts';

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
export function readPosition(cursor: string, plan: QueryPlan): QueryPosition {
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
