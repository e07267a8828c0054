import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type HealthRow, healthKey, healthTable } from '../../fleet/health-table.ts';
import { restartDelayMs } from '../../fleet/restart-delay.ts';

const ROWS: readonly HealthRow[] = [
  { name: 'api-1', pid: 4242, port: 20_001, state: 'ready', restarts: 0, rssBytes: 104_857_600 },
  { name: 'http-worker-1', pid: 0, port: null, state: 'down', restarts: 12, rssBytes: null },
];

describe('the health table', () => {
  it('lines its columns up', () => {
    expect(healthTable(ROWS)).toBe(
      [
        'name            pid   port  state  restarts      rss',
        'api-1          4242  20001  ready         0  100 MiB',
        'http-worker-1     -      -  down         12        -',
      ].join('\n'),
    );
  });

  it('counts as changed when a process does, not when only its memory does', () => {
    const grown = ROWS.map((row) => ({ ...row, rssBytes: 1 }));
    const restarted = ROWS.map((row) => ({ ...row, restarts: row.restarts + 1 }));
    expect(healthKey(grown)).toBe(healthKey(ROWS));
    expect(healthKey(restarted)).not.toBe(healthKey(ROWS));
  });
});

describe('the wait before a process is started again', () => {
  it('grows with every failure in a row and has a bound', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10_000 }), (failures) => {
        const waitMs = restartDelayMs(failures);
        expect(waitMs).toBeGreaterThan(0);
        expect(waitMs).toBeLessThanOrEqual(10_000);
        expect(restartDelayMs(failures + 1)).toBeGreaterThanOrEqual(waitMs);
      }),
    );
  });
});
