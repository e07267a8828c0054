import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isScrapifieError } from '../../src/core/errors/scrapifie-error.ts';
import { escapesOf } from './escapes.ts';
import { openSqlWorld, type SqlWorld } from './sql-world.ts';

let world: SqlWorld;
beforeAll(async () => {
  world = await openSqlWorld();
});
afterAll(() => world.close());

/** The names of the tests show only where the paths stand in the SQL, so any paths will do. */
const NAMES = escapesOf({
  ...{ otherFile: '/1', otherFolder: '/2', csvFile: '/3', ownFile: '/4', newFile: '/5', otherAccount: '6' },
}).map(({ name }) => name);

/** For queries that only a limit ends. The others are refused, however long a busy machine takes to do so. */
const SHORT_MS = 1_500;
const PATIENT_MS = 30_000;

describe('no query gets out of the lake of its account', { timeout: 60_000 }, () => {
  it('in more than fifty ways', () => expect(NAMES.length).toBeGreaterThan(100));

  it.for(NAMES)('%s', async (name) => {
    const attempt = escapesOf(world.forbidden).find((each) => each.name === name);
    const timeoutMs = attempt?.codes.includes('QUERY_TIMEOUT') === true ? SHORT_MS : PATIENT_MS;
    const outcome = await world
      .ask(attempt?.sql ?? '', { timeoutMs, limit: 10 })
      .then((answer) => ({ code: 'ANSWERED', message: JSON.stringify(answer) }))
      .catch((error: unknown) => {
        if (!isScrapifieError(error)) throw error;
        return { code: error.code as string, message: error.message };
      });
    expect(attempt?.codes, outcome.message).toContain(outcome.code);
    expect(outcome.message).not.toContain('root:');
    expect(existsSync(world.forbidden.newFile)).toBe(false);
  });
});
