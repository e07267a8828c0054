import { expect, it } from 'vitest';
import { everyMsOf } from '../../capabilities/schedules/schedule-request.ts';
import { eventLine, intervalText } from './summaries.ts';

it.each(['1h', '1h30m', '90s', '15m', '1d', '366d', '1d1s', '1s500ms'])(
  '%s is written as it is read',
  (every) => {
    const ms = everyMsOf(every) ?? 0;
    expect(intervalText(ms)).toBe(every === '90s' ? '1m30s' : every);
    expect(everyMsOf(intervalText(ms))).toBe(ms);
  },
);

it('is one line for each event but progress, and leaves nothing that moves the cursor', () => {
  const lineOf = (type: string, data: object) => eventLine({ id: null, type, data: { ...data } });
  expect(lineOf('page.done', { statusCode: 200, url: 'https://a.test/', title: 'A\u001b[2J\nB' })).toBe(
    '200   https://a.test/  A [2J B\n',
  );
  expect(lineOf('page.failed', { url: 'https://a.test/', errorCode: 'BLOCKED', errorMessage: 'no' })).toBe(
    '!     https://a.test/  BLOCKED: no\n',
  );
  expect(lineOf('progress', { progress: { pages: 1 } })).toBe('');
  expect(lineOf('log', { message: 'It waits.' })).toBe('…     It waits.\n');
  expect(
    lineOf('job.stopping', {
      at: '2026-01-01T00:00:00.000Z',
      stopReason: 'budget.pages',
      progress: { pages: 3, failed: 1, open: 0 },
    }),
  ).toBe('2026-01-01T00:00:00.000Z  job.stopping  3 pages, 1 failed, 0 open, budget.pages\n');
  expect(lineOf('end', { status: 'completed' })).toBe('The job has ended: completed.\n');
});
