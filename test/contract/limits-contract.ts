import { expect } from 'vitest';
import type { Limits } from '../../src/core/ports/limits.ts';
import { contract, type Open, type Skip } from './contract.ts';

/** A driver may go by a clock of its own, so the cases give it the true time unless they are about time. */
export function limitsContract(name: string, open: Open<Limits>, skips: readonly Skip[] = []) {
  contract<Limits>(`limits: ${name}`, open, skips, (holds) => {
    holds('allows as many requests as a minute has, and no more', async (limits) => {
      const taken = [];
      for (let request = 0; request < 7; request += 1) taken.push(await limits.take('a', 5, Date.now()));
      expect(taken.map(({ isAllowed }) => isAllowed)).toEqual([true, true, true, true, true, false, false]);
      expect(taken.map(({ remaining }) => remaining)).toEqual([4, 3, 2, 1, 0, 0, 0]);
    });

    holds('says when the window ends', async (limits) => {
      const { resetMs } = await limits.take('a', 5, Date.now());
      expect(resetMs).toBeGreaterThan(50_000);
      expect(resetMs).toBeLessThanOrEqual(60_000);
      const later = await limits.take('a', 5, Date.now());
      expect(later.resetMs).toBeLessThanOrEqual(resetMs);
    });

    holds('counts each key by itself', async (limits) => {
      expect(await limits.take('a', 1, Date.now())).toMatchObject({ isAllowed: true });
      expect(await limits.take('a', 1, Date.now())).toMatchObject({ isAllowed: false });
      expect(await limits.take('b:1/ä', 1, Date.now())).toMatchObject({ isAllowed: true });
    });

    holds('a limit that is raised holds at once', async (limits) => {
      expect(await limits.take('a', 1, Date.now())).toMatchObject({ isAllowed: true });
      expect(await limits.take('a', 1, Date.now())).toMatchObject({ isAllowed: false });
      expect(await limits.take('a', 10, Date.now())).toMatchObject({ isAllowed: true, remaining: 7 });
    });

    holds('counts requests that come together one by one', async (limits) => {
      const taken = await Promise.all(Array.from({ length: 100 }, () => limits.take('a', 60, Date.now())));
      expect(taken.filter(({ isAllowed }) => isAllowed)).toHaveLength(60);
    });

    holds('begins anew when the window is over', async (limits) => {
      const start = Date.now();
      await limits.take('a', 1, start);
      expect(await limits.take('a', 1, start + 59_999)).toMatchObject({ isAllowed: false });
      expect(await limits.take('a', 1, start + 60_000)).toEqual({
        isAllowed: true,
        remaining: 0,
        resetMs: 60_000,
      });
    });
  });
}
