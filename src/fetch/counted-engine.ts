import type { ByteBudget } from './byte-budget.ts';
import type { Engine } from './engine.ts';

/**
 * Counts what the engine holds while it fetches, for callers that take what they need from a response at once. The
 * engine stays the caller's to close.
 */
export function withBudget(engine: Engine, budget: ByteBudget): Engine {
  return {
    name: engine.name,
    async fetch(request) {
      const held = budget.open();
      try {
        return await engine.fetch({ ...request, held });
      } finally {
        held.close();
      }
    },
    close: async () => undefined,
  };
}
