import { expect, it } from 'vitest';
import { killListened } from '../fault/kill-listened.ts';

it('live events: clients that leave at any event, and a server that is killed, miss nothing and repeat nothing', async () => {
  const report = await killListened({ pages: 150, kills: 2, clients: 4, seed: 7 });
  expect(report.problems.join('\n')).toBe('');
  expect(report.pages).toBe(150);
  expect(report.connections).toBeGreaterThan(4);
}, 180_000);
