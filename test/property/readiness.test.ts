import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { browserPart, createReadiness, type Part } from '../../src/http/health/readiness.ts';

const STATES = ['ok', 'degraded', 'failing'] as const;

/** A part in any state, as the server has them: its own parts, and the browsers by what their watch has found. */
const anyPart = fc
  .record({
    state: fc.constantFrom(...STATES),
    isEssential: fc.boolean(),
    isBrowser: fc.boolean(),
  })
  .map(
    ({
      state,
      isEssential,
      isBrowser,
    }): { part: Part; state: (typeof STATES)[number]; isEssential: boolean } => {
      if (isBrowser) {
        const health = async () => ({ state, code: null, reason: state === 'ok' ? null : 'no page opens' });
        return { part: browserPart(health, isEssential), state, isEssential };
      }
      const check = async () => {
        if (state === 'failing') throw new Error('away');
      };
      const degradation = () => (state === 'degraded' ? 'slow' : null);
      return { part: { check, isEssential, degradation }, state, isEssential };
    },
  );

describe('property 2: readiness', () => {
  it('is given exactly when no part fails that the process needs, and names the state of each', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.constantFrom('store', 'queue', 'blobs', 'browsers', 'proxies'), anyPart),
        async (all) => {
          const parts = Object.fromEntries(Object.entries(all).map(([name, { part }]) => [name, part]));
          const { isReady, parts: reports } = await createReadiness({ parts, now: () => 0 })();
          const states = Object.values(all);
          expect(isReady).toBe(!states.some(({ state, isEssential }) => state === 'failing' && isEssential));
          for (const [name, { state, isEssential }] of Object.entries(all)) {
            expect(reports[name]?.status).toBe(state === 'failing' && !isEssential ? 'degraded' : state);
          }
        },
      ),
    );
  });

  it('follows a part that fails and recovers, once the last result is old', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }), async (history) => {
        let now = 0;
        let works = true;
        const check = async () => {
          if (!works) throw new Error('away');
        };
        const ask = createReadiness({
          parts: { store: { check, isEssential: true } },
          freshMs: 500,
          now: () => now,
        });
        for (const isWorking of history) {
          works = isWorking;
          now += 500;
          expect((await ask()).isReady).toBe(isWorking);
        }
      }),
    );
  });
});
