import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { Attempt } from '../../../core/model/attempt.ts';
import { createByteBudget } from '../../../fetch/byte-budget.ts';
import type { Engine } from '../../../fetch/engine.ts';
import type { Installation } from '../../plan/ladder/fetch-methods.ts';
import { NO_MEMORY } from '../../plan/ladder/host-memory.ts';
import { type LadderStep, nextStep, type PastAttempt } from '../../plan/ladder/ladder.ts';
import type { FetchResources } from './fetch-resources.ts';

const HTTP_ALONE: Installation = {
  engines: [{ name: 'http', abilities: ['messages', 'proxies'], isAnswering: true }],
  tiers: [],
  hasSolver: false,
};

/** One engine over plain HTTP, and nothing else. */
export function httpResources(engine: Engine, budget = createByteBudget(1_000_000_000)): FetchResources {
  const none = () => {
    throw new ScrapifieError('INTERNAL', 'This test has no such thing.');
  };
  return {
    budget,
    installation: () => HTTP_ALONE,
    discover: async () => undefined,
    awayOf: () => null,
    engine: () => engine,
    proxies: null,
    ownProxy: none,
    sessions: { begin: none, end: none },
    credentials: { forSession: none },
    manner: { minPauseMs: 0, maxPauseMs: 0, typing: false, scrolling: false },
    identity: none,
  };
}

/** What the ladder says to an attempt when there is nothing but plain HTTP. */
export function httpNext(attempt: PastAttempt, maxAttempts = 3, trace: readonly Attempt[] = []): LadderStep {
  return nextStep(
    {
      request: {
        url: 'http://site.test/',
        engine: 'auto',
        needs: [],
        identity: null,
        proxy: null,
        maxTier: null,
        maxAttempts,
      },
      policy: { engines: ['http'], proxyTier: null, maxProxyTier: null, consent: [] },
      installation: HTTP_ALONE,
      memory: NO_MEMORY,
      trace: [...trace, attempt],
    },
    0,
    () => 0.5,
  );
}
