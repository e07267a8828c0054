import { describe, expect, inject, it } from 'vitest';
import { createPostgresStore } from '../../src/drivers/store-postgres/postgres-store.ts';
import { createSchema } from '../../src/drivers/store-postgres/schema.fixture.ts';
import { simulateYear } from '../fault/schedule-year.ts';
import { SHORT_YEAR } from '../fault/short-year.ts';

describe('schedules in a shared store', () => {
  it.each(SHORT_YEAR)(
    'run every tick once around the changes of the clock ($name), with two schedulers that are killed',
    async (part) => {
      const schema = await createSchema(inject('postgresUrl'));
      try {
        const open = async (now: () => number) => {
          const store = await createPostgresStore({ url: schema.url, poolSize: 4, now });
          await store.migrate();
          return store;
        };
        const report = await simulateYear({ ...part, open });
        expect(report.problems).toEqual([]);
        expect(report.kills).toBeGreaterThan(20);
      } finally {
        await schema.drop();
      }
    },
  );
});
