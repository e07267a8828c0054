import { expect, it } from 'vitest';
import { eventLine } from './event-line.ts';

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
