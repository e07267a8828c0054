import type { SQLInputValue } from 'node:sqlite';
import { type AccessCheck, createAccessCheck, type Methods } from '../store-sql/methods.ts';
import type { Sql, SqlWriter } from '../store-sql/sql.ts';
import type { Step, Steps } from '../store-sql/steps.ts';
import type { SqliteDatabase } from './database.ts';
import { writeEvent } from './event-log.ts';

/** A port without promises: how it looks inside the thread that owns the connection. */
export type Synchronous<T> = {
  [K in keyof T]: T[K] extends (...values: infer Values) => Promise<infer Result>
    ? (...values: Values) => Result
    : T[K];
};

/** The methods on one connection. The thread of the store is what makes each of them one transaction. */
export function sqliteMethods<Port>(
  methods: Methods<Port>,
  database: SqliteDatabase,
  now: () => number,
): Synchronous<Port> {
  const bound = Object.entries<Methods<Port>[keyof Port]>(methods).map(([name, { access, steps }]) => [
    name,
    (...values: never[]) => runSqlite(steps(...values), database, now, createAccessCheck(access)),
  ]);
  return Object.fromEntries(bound) as Synchronous<Port>;
}

/** Runs steps within the transaction under way. */
export function runSqlite<Result>(
  steps: Steps<Result>,
  database: SqliteDatabase,
  now: () => number,
  check = createAccessCheck('transaction'),
): Result {
  let next = steps.next();
  while (next.done !== true) next = steps.next(answer(next.value, database, now(), check));
  return next.value;
}

function answer(step: Step, database: SqliteDatabase, now: number, check: AccessCheck): unknown {
  if (step.wants === 'event') {
    check('INSERT INTO events');
    return writeEvent(database, step.event, now);
  }
  if (step.wants === 'lock') return undefined;
  const { text, values } = written(step.statement, now);
  check(text);
  if (step.wants === 'changes') return database.run(text, ...values);
  return step.wants === 'row' ? database.get(text, ...values) : database.all(text, ...values);
}

function written(statement: Sql, now: number): { readonly text: string; readonly values: SQLInputValue[] } {
  let text = '';
  const values: SQLInputValue[] = [];
  const writer: SqlWriter = {
    database: 'sqlite',
    text: (part) => {
      text += part;
    },
    value: (value) => {
      text += '?';
      values.push(typeof value === 'boolean' ? Number(value) : value);
    },
    json: (value) => writer.value(JSON.stringify(value)),
    oneOf: (list) => {
      text += 'IN (SELECT value FROM json_each(?))';
      values.push(JSON.stringify(list));
    },
    now: () => writer.value(now),
  };
  statement(writer);
  return { text, values };
}
