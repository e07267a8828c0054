import { expect, test } from 'vitest';
import { learn, NO_MEMORY } from '../../crawl/plan/ladder/host-memory.ts';
import { strategySchema, strategyView } from './strategy-view.ts';

const NOW = Date.UTC(2026, 0, 2, 12);
const DAY_MS = 86_400_000;
const HTTP = { engine: 'http', proxyTier: null, identity: 'bot' } as const;
const STEALTH = { engine: 'stealth', proxyTier: 'residential', identity: 'browser' } as const;

test('nothing learned is no strategy', () => {
  expect(strategyView(undefined, NOW)).toBeNull();
  expect(strategyView(NO_MEMORY, NOW)).toEqual({
    ways: [],
    pages: { known: 0, needScripts: 0 },
    probedAt: null,
  });
});

test('tells which ways worked, how often and when, and which pages need scripts', () => {
  let memory = NO_MEMORY;
  const end = { statusCode: 200, outcome: 'ok' } as const;
  for (let count = 0; count < 4; count += 1) {
    memory = learn(memory, { ...STEALTH, ...end, url: 'https://a.example/x' }, NOW);
  }
  memory = learn(memory, { ...HTTP, statusCode: 403, outcome: 'blocked', url: 'https://a.example/x' }, NOW);
  memory = learn(
    memory,
    { ...HTTP, statusCode: 200, outcome: 'needs-javascript', url: 'https://a.example/app' },
    NOW,
  );
  const view = strategyView({ ...memory, probedAt: NOW }, NOW);
  expect(strategySchema.parse(view)).toEqual(view);
  expect(view).toMatchObject({
    ways: [
      { ...STEALTH, successRate: 1, weight: 4, lastAt: '2026-01-02T12:00:00.000Z' },
      { ...HTTP, weight: expect.any(Number) },
    ],
    pages: { known: 1, needScripts: 1 },
    probedAt: '2026-01-02T12:00:00.000Z',
  });
  expect(view?.ways[1]?.successRate).toBeLessThan(1);
  expect(strategyView(memory, NOW + DAY_MS)?.ways[0]?.weight).toBe(2);
});
