import { describe, expect, it } from 'vitest';
import { createSqliteStore } from '../../src/drivers/store-sqlite/sqlite-store.ts';
import { simulateYear } from './schedule-year.ts';
import { SHORT_YEAR } from './short-year.ts';

describe('schedules', () => {
  it.each(SHORT_YEAR)(
    'run every tick once around the changes of the clock ($name), with two schedulers that are killed',
    async (part) => {
      const open = async (now: () => number) => {
        const store = await createSqliteStore({ path: ':memory:', now });
        await store.migrate();
        return store;
      };
      const report = await simulateYear({ ...part, open });
      expect(report.problems).toEqual([]);
      expect(report.kills).toBeGreaterThan(20);
    },
  );
});
