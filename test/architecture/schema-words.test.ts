import { describe, expect, it } from 'vitest';
import { CREDITS_EXHAUSTED } from '../../src/core/model/credits.ts';
import { READER_OPTIONS } from '../../src/core/model/derived.ts';
import { JOB_STATUSES } from '../../src/core/model/job.ts';
import { JOB_KINDS, kindsWith } from '../../src/core/model/job-kinds.ts';
import { FOUND_BY, TASK_KINDS, TASK_STATES } from '../../src/core/model/task.ts';
import { NO_HASH } from '../../src/core/ports/audit-store.ts';
import { RUN_STATUSES } from '../../src/core/ports/schedule-store.ts';
import { DELIVERY_STATES } from '../../src/core/ports/webhook-store.ts';
import { SPARE } from '../../src/drivers/store-rows/credit-rows.ts';
import { DELETED_ACCOUNT } from '../../src/drivers/store-rows/expiry.ts';
import { IDLE_RANK } from '../../src/drivers/store-rows/rows.ts';
import { HELD_HOSTS, REST } from '../../src/drivers/store-sqlite/account-places.ts';
import { SQL_LINE } from '../../src/drivers/store-sqlite/due-tasks.ts';
import { readSqlFiles } from './sources.ts';

/** The schema of a database as it is written in its .sql files, without comments. */
const readSchema = (store: string): string =>
  readSqlFiles()
    .filter(({ path }) => [store, 'store-sql'].some((own) => path.startsWith(`drivers/${own}/schema/`)))
    .map(({ text }) => text.replaceAll(/--.*$/gm, ''))
    .join('\n');

/** The words that each of these columns may have, in whichever table it is. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  // A commit also says that a task has moved to another host.
  state: [...TASK_STATES, ...DELIVERY_STATES, 'moved'],
  becomes: TASK_STATES,
  kind: [...TASK_KINDS, ...JOB_KINDS],
  status: [...JOB_STATUSES, ...RUN_STATUSES],
  found_by: FOUND_BY,
};

/** Each word that the schema compares one of the columns with or sets it to, as `column word`. */
function wordsIn(schema: string): string[] {
  const columns = Object.keys(WORDS).join('|');
  const use = new RegExp(
    `\\b(?:p_)?(${columns})\\s*(?:=|<>|(?:NOT )?IN|CASE\\s+WHEN)\\s*(\\([^)]*\\)|'[^']*')`,
    'g',
  );
  return [...schema.matchAll(use)].flatMap(([, column = '', right = '']) =>
    [...right.matchAll(/'([^']*)'/g)].map(([, word]) => `${column} ${word}`),
  );
}

describe.each(['store-sqlite', 'store-postgres'])('the schema of %s', (store) => {
  const schema = readSchema(store);

  it('knows no word of a closed list that the registries lack', () => {
    const words = wordsIn(schema);
    expect(words).toContain('state ready');
    const known = new Set(
      Object.entries(WORDS).flatMap(([column, list]) => list.map((word) => `${column} ${word}`)),
    );
    expect(words.filter((word) => !known.has(word))).toEqual([]);
  });

  it('has a row for each reader of events, with its option', () => {
    const [, rows = ''] = /INSERT INTO readers \(name, option\) VALUES([^;]*);/.exec(schema) ?? [];
    const found = [...rows.matchAll(/\('(\w+)', '(\w+)'\)/g)].map(([, name, option]) => [name, option]);
    expect(Object.fromEntries(found)).toEqual(READER_OPTIONS);
  });

  it('has the account of deleted jobs, the beginning of the audit chain, and the lines of tasks as the program has them', () => {
    expect(schema).toContain(`('${DELETED_ACCOUNT}', '${DELETED_ACCOUNT}', 0)`);
    expect(schema).toContain(`VALUES (1, 0, '${NO_HASH}')`);
    expect(schema).toContain(`tasks_turns ON tasks (host_id, account_id, (${SQL_LINE}), rank, id)`);
  });
});

it('the functions of PostgreSQL have the numbers and reasons of the program', () => {
  const schema = readSchema('store-postgres');
  const { shortestMs, longestMs, eachMs, mostCounted } = HELD_HOSTS;
  const shared = [
    `coalesce(due, ${IDLE_RANK})`,
    `least(${SPARE.claims} * p_reserve, (free - wanted) / ${SPARE.part})`,
    `stop_job(paying.seq, '${CREDITS_EXHAUSTED}', p_now)`,
    `LIMIT ${mostCounted}`,
    `least(${longestMs}, greatest(${shortestMs}, waiting * ${eachMs})) * (8 + p_host % 8) / 8`,
    `(p_now / ${REST.stepMs} + p_host) % ${REST.steps} = 0`,
  ];
  expect(shared.filter((text) => !schema.includes(text))).toEqual([]);
});

it('the function of PostgreSQL that ranks tasks puts the urgent kinds of jobs first, and no other', () => {
  const [, condition = ''] =
    /FUNCTION rank_of\b[\s\S]*?CASE WHEN ([\s\S]*?) THEN 0/.exec(readSchema('store-postgres')) ?? [];
  expect([...condition.matchAll(/'(\w+)'/g)].map(([, kind]) => kind)).toEqual(kindsWith({ isUrgent: true }));
});
