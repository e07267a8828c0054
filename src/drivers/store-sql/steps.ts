import type { EventType } from '../../core/model/event-types.ts';
import type { EventData } from '../../core/ports/event-store.ts';
import type { ListPage } from '../../core/ports/store.ts';
import { type Row, sliceOf } from '../store-rows/rows.ts';
import type { Sql } from './sql.ts';

export interface EventToWrite {
  readonly type: EventType;
  readonly accountId: string;
  readonly jobId: string | null;
  readonly data: EventData;
}

/**
 * What a step asks of the database: how many rows a statement changes, its rows, its first row, an event written, or to
 * be alone with a name until the transaction ends.
 */
export type Step =
  | { readonly wants: 'changes' | 'rows' | 'row'; readonly statement: Sql }
  | { readonly wants: 'event'; readonly event: EventToWrite }
  | { readonly wants: 'lock'; readonly name: string };

/**
 * What a method of a store does, statement after statement, without saying whether it waits for them: the generator
 * yields each step and goes on with its result. SQLite answers within its thread and PostgreSQL over the network, so one
 * text serves both. A statement that fails ends the method and undoes its transaction; steps cannot catch it.
 */
export type Steps<Result> = Generator<Step, Result, unknown>;

/** Returns how many rows the statement changed. */
export function* run(statement: Sql): Steps<number> {
  return (yield { wants: 'changes', statement }) as number;
}

/** Returns whether the statement changed a row. */
export function* changed(statement: Sql): Steps<boolean> {
  return (yield* run(statement)) > 0;
}

export function* get(statement: Sql): Steps<Row | undefined> {
  return (yield { wants: 'row', statement }) as Row | undefined;
}

/** Returns the first row as what it stands for; null when there is none. */
export function* find<T>(statement: Sql, map: (row: Row) => T): Steps<T | null> {
  const row = yield* get(statement);
  return row === undefined ? null : map(row);
}

/** Returns the one row that the statement always has, as what it stands for. */
export function* one<T>(statement: Sql, map: (row: Row) => T): Steps<T> {
  const row = yield* get(statement);
  if (row === undefined) throw new Error('A statement that always has a row had none.');
  return map(row);
}

export function* all(statement: Sql): Steps<Row[]> {
  return (yield { wants: 'rows', statement }) as Row[];
}

export function* list<T>(statement: Sql, map: (row: Row) => T): Steps<T[]> {
  return (yield* all(statement)).map(map);
}

/** Returns `limit` of the rows with the cursor of the next; the statement asks for one row more. */
export function* slice<T>(
  statement: Sql,
  limit: number,
  map: (row: Row) => T,
  cursorColumn = 'seq',
): Steps<ListPage<T>> {
  return sliceOf(yield* all(statement), limit, cursorColumn, map);
}

/** Writes an event within the transaction. */
export function* tell(event: EventToWrite): Steps<void> {
  yield { wants: 'event', event };
}

/** Waits until no other transaction has the name. SQLite has one writer at a time, so there is nothing to wait for. */
export function* lock(name: string): Steps<void> {
  yield { wants: 'lock', name };
}
