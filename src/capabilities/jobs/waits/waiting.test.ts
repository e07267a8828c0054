import { describe, expect, it } from 'vitest';
import type { HostKey, JobId } from '../../../core/model/ids.ts';
import type { Reason } from '../../../core/model/reasons.ts';
import type { TaskWait } from '../../../core/ports/job-store.ts';
import { hopelessError, hopelessWait, waitingFor } from './waiting.ts';

const NOW = Date.parse('2026-03-01T13:05:00Z');
const HOUR_MS = 3_600_000;
const host = 'example.com' as HostKey;

const ready = (given: Partial<TaskWait> = {}): TaskWait => ({
  hostKey: host,
  state: 'ready',
  tasks: 1,
  rule: null,
  readyAt: null,
  heldUntil: null,
  hold: null,
  ...given,
});
const held = (rule: Reason, until: number, given: Partial<TaskWait> = {}) =>
  ready({ heldUntil: until, hold: { rule, until }, ...given });
const retry = (rule: string, readyAt: number, given: Partial<TaskWait> = {}) =>
  ready({ state: 'waiting', rule, readyAt, ...given });

describe('what a job waits for', () => {
  it.each([
    [
      held('rate.retry-after', NOW + HOUR_MS),
      'HOST_RATE_LIMITED',
      'example.com asked to wait until 2026-03-01T14:05:00.000Z.',
    ],
    [
      held('breaker.open', NOW + 60_000),
      'CIRCUIT_OPEN',
      'example.com failed too often; the next request is sent at 2026-03-01T13:06:00.000Z.',
    ],
    [
      held('hours.closed', NOW + HOUR_MS),
      'OUTSIDE_HOURS',
      'The policy for example.com allows no requests before 2026-03-01T14:05:00.000Z.',
    ],
    [
      retry('robots.no-way-out: NO_HEALTHY_PROXY', NOW + 60_000),
      'NO_HEALTHY_PROXY',
      'No proxy can be used for example.com before 2026-03-01T13:06:00.000Z.',
    ],
    [
      retry('robots.unreachable: HTTP 500', NOW + 60_000),
      'ROBOTS_UNREACHABLE',
      'The robots.txt of example.com could not be read; it is requested again at 2026-03-01T13:06:00.000Z.',
    ],
    [
      retry('retry:CONNECT_FAILED', NOW + 60_000),
      'CONNECT_FAILED',
      'The last attempt on example.com ended with CONNECT_FAILED; the next one is made at 2026-03-01T13:06:00.000Z.',
    ],
  ] as const)('is named by code, sentence and time (%#)', (wait, code, message) => {
    expect(waitingFor([wait], NOW)).toEqual([
      { host, code, message, tasks: 1, until: wait.hold?.until ?? wait.readyAt },
    ]);
  });

  it('is nothing for URLs that are under way or due', () => {
    const waits = [ready(), ready({ state: 'claimed' }), retry('retry:CONNECT_FAILED', NOW)];
    expect(waitingFor(waits, NOW)).toEqual([]);
  });

  it('is told once for each host and code, with the first time and the number of URLs', () => {
    const waits = [
      retry('retry:HOST_RATE_LIMITED', NOW + 2 * HOUR_MS, { tasks: 2 }),
      held('rate.retry-after', NOW + HOUR_MS, { tasks: 5 }),
      held('breaker.open', NOW + HOUR_MS, { tasks: 9, hostKey: 'other.example' as HostKey }),
    ];
    expect(waitingFor(waits, NOW)).toMatchObject([
      { host: 'other.example', tasks: 9 },
      { host, code: 'HOST_RATE_LIMITED', tasks: 7, until: NOW + HOUR_MS },
    ]);
  });

  it('has the time at which the hours begin, although the host is looked at earlier', () => {
    const wait = ready({
      heldUntil: NOW + 60_000,
      hold: { rule: 'hours.closed', until: NOW + HOUR_MS },
    });
    expect(waitingFor([wait], NOW)).toMatchObject([{ until: NOW + HOUR_MS }]);
  });
});

describe('a wait is hopeless', () => {
  it('when every open URL waits for longer than the caller does', () => {
    const waits = [held('rate.retry-after', NOW + HOUR_MS), retry('retry:CONNECT_FAILED', NOW + 2 * HOUR_MS)];
    expect(hopelessWait(waits, NOW, 30_000)).toMatchObject({ code: 'HOST_RATE_LIMITED' });
    expect(hopelessWait(waits, NOW, 2 * HOUR_MS)).toBeNull();
    expect(hopelessWait([...waits, ready({ state: 'claimed' })], NOW, 30_000)).toBeNull();
    expect(hopelessWait([], NOW, 30_000)).toBeNull();
  });

  it('and is answered with its code, until when, and when to come again', () => {
    const wait = hopelessWait([held('breaker.open', NOW + 90_000)], NOW, 30_000);
    expect(wait).not.toBeNull();
    if (wait === null) return;
    expect(hopelessError(wait, 'job' as JobId, NOW)).toMatchObject({
      code: 'CIRCUIT_OPEN',
      retryAfterMs: 90_000,
      details: { jobId: 'job', host, until: '2026-03-01T13:06:30.000Z' },
    });
  });
});
