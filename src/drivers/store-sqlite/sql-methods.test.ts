import { afterEach, describe, expect, it } from 'vitest';
import { change, read, transaction } from '../store-sql/methods.ts';
import { CLOCK, json, oneOf, raw, rowsOf, sql } from '../store-sql/sql.ts';
import { all, get, run } from '../store-sql/steps.ts';
import { openSqliteDatabase } from './database.ts';
import { sqliteMethods } from './sql-methods.ts';

interface Notes {
  add(text: string): Promise<number>;
  both(first: string, second: string): Promise<void>;
  texts(): Promise<readonly string[]>;
}

const insert = (text: string) => sql`INSERT INTO notes (text) VALUES (${text})`;

const database = openSqliteDatabase(':memory:');
database.exec('CREATE TABLE notes (text TEXT)');
afterEach(() => void database.run('DELETE FROM notes'));

const bound = (methods: Partial<Parameters<typeof sqliteMethods<Notes>>[0]>) =>
  sqliteMethods<Notes>(
    {
      add: change((text: string) => run(insert(text))),
      both: transaction(function* (first: string, second: string) {
        yield* run(insert(first));
        yield* run(insert(second));
      }),
      texts: read(function* () {
        return (yield* all(sql`SELECT text FROM notes ORDER BY text`)).map(({ text }) => String(text));
      }),
      ...methods,
    },
    database,
    () => 5,
  );

const rowOf = (statement: Parameters<typeof get>[0]) =>
  sqliteMethods<{ row(): Promise<unknown> }>({ row: read(() => get(statement)) }, database, () => 5).row();

describe('SQL for both databases', () => {
  it('has text as a parameter, never as SQL, unless it is marked as SQL', () => {
    const store = bound({});
    store.add("'); DROP TABLE notes; --");
    expect(store.texts()).toEqual(["'); DROP TABLE notes; --"]);
    expect(rowOf(sql`SELECT ${'1 + 1'} AS given, ${raw('1 + 1')} AS computed`)).toEqual({
      given: '1 + 1',
      computed: 2,
    });
  });

  it('has the time of the call, JSON, lists and rows as parameters', () => {
    expect(rowOf(sql`SELECT ${CLOCK} + 1 AS now, ${true} AS is_true, ${json({ a: [1] })} AS value`)).toEqual({
      now: 6,
      is_true: 1,
      value: '{"a":[1]}',
    });
    expect(
      rowOf(sql`SELECT 2 ${oneOf([1, 2], 'bigint')} AS has, 'c' ${oneOf(['a'], 'text')} AS has_not`),
    ).toEqual({
      has: 1,
      has_not: 0,
    });
    const rows = rowsOf('n', { id: 'text', size: 'bigint' }, [
      { id: 'a', size: 2 },
      { id: 'b', size: 3 },
    ]);
    expect(rowOf(sql`SELECT max(id) AS id, sum(size) AS size FROM ${rows}`)).toEqual({ id: 'b', size: 5 });
  });
});

describe('methods of the cold store', () => {
  it('are run on the connection, several statements in a transaction', () => {
    const store = bound({});
    store.both('a', 'b');
    expect(store.add('c')).toBe(1);
    expect(store.texts()).toEqual(['a', 'b', 'c']);
  });

  it('change no more than they are declared to', () => {
    const writes = function* (text: string) {
      yield* run(insert(text));
      return yield* run(insert(text));
    };
    expect(() => bound({ add: change(writes) }).add('a')).toThrow('declared as change');
    expect(() => bound({ add: read((text: string) => run(insert(text))) }).add('a')).toThrow(
      'declared as read',
    );
    expect(bound({ add: transaction(writes) }).add('a')).toBe(1);
  });
});
