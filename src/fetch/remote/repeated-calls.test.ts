import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { CallStart } from '../../core/ports/queue.ts';
import type { Admission } from '../engine.ts';
import { codeOfFailure, get, serve, testEngine, textOf } from '../http/loopback.fixture.ts';
import { openRemotePair, type Seals } from './remote.fixture.ts';
import { readRenderCall } from './render-message.ts';

const REPEATED: Partial<CallStart> = { isRepeated: true };

/** A site and a gate; `order` is what they saw. */
async function siteWithGate(validMs = Number.POSITIVE_INFINITY) {
  const order: string[] = [];
  const site = await serve((_, response) => {
    order.push('request');
    response.end('here');
  });
  const admission: Admission = {
    validMs,
    again: async () => {
      order.push('admitted');
    },
  };
  return { url: site.origin, order, admission };
}

const openWith = (start: Partial<CallStart>, seals?: Seals) =>
  openRemotePair(testEngine(), 1, seals ?? { owner: null, worker: null }, start);

describe('a call that another worker may have begun', () => {
  test('requests the page after the gate has admitted one more request', async () => {
    const { url, order, admission } = await siteWithGate();
    const { remote } = await openWith(REPEATED);
    expect(textOf(await get(remote, url, { admission }))).toBe('here');
    expect(order).toEqual(['admitted', 'request']);
  });

  test('does so when messages are sealed', async () => {
    const { url, order, admission } = await siteWithGate();
    const seal = { seal: (plain: Uint8Array) => plain, open: (sealed: Uint8Array) => sealed };
    const { remote } = await openWith(REPEATED, { owner: seal, worker: seal });
    expect(textOf(await get(remote, url, { admission }))).toBe('here');
    expect(order).toEqual(['admitted', 'request']);
  });

  test('ends with the reason for which the gate refuses, and nothing is sent', async () => {
    const { url, order } = await siteWithGate();
    const { remote } = await openWith(REPEATED);
    const again = () => Promise.reject(new ScrapifieError('DOMAIN_DENIED', 'Not any more.'));
    const admission = { validMs: Number.POSITIVE_INFINITY, again };
    expect(await codeOfFailure(get(remote, url, { admission }))).toBe('DOMAIN_DENIED');
    expect(order).toEqual([]);
  });

  test('ends when the host is no longer ours after the gate has admitted it', async () => {
    const { url, order, admission } = await siteWithGate();
    const { remote } = await openWith(REPEATED);
    const mayStart = () => !order.includes('admitted');
    expect(await codeOfFailure(get(remote, url, { admission, mayStart }))).toBe('CANCELLED');
    expect(order).toEqual(['admitted']);
  });

  test('is left to the owner to plan anew where the owner cannot be asked', async () => {
    const { url, order } = await siteWithGate();
    const { remote, queue, messages } = await openWith(REPEATED);
    expect(await codeOfFailure(get(remote, url))).toBe('BROWSER_LOST');
    const request = JSON.parse(messages[0] ?? '');
    const admission = { validMs: null };
    // Without `onQuestion`: the caller takes no questions.
    const call = queue.call('scrape-browser', { ...request, admission }, { rank: 0, timeoutMs: 20_000 });
    await expect(call).rejects.toMatchObject({ code: 'NO_WORKER' });
    expect(order).toEqual([]);
  });

  test('does not lose its time while the gate keeps it waiting', async () => {
    const { url, order } = await siteWithGate();
    const { remote } = await openWith(REPEATED);
    const again = () => pause(1_500);
    const admission = { validMs: Number.POSITIVE_INFINITY, again };
    const response = await get(remote, url, { admission, timeoutMs: 1_000 });
    expect([textOf(response), order]).toEqual(['here', ['request']]);
  });
});

describe('a call that waited for a worker', () => {
  test('is admitted again when it waited for longer than its admission is valid', async () => {
    const { url, order, admission } = await siteWithGate(60_000);
    const { remote } = await openWith({ waitedMs: 60_001 });
    expect(textOf(await get(remote, url, { admission }))).toBe('here');
    expect(order).toEqual(['admitted', 'request']);
  });

  test.each([60_000, Number.POSITIVE_INFINITY])('in time is not: valid for %d ms', async (validMs) => {
    const { url, order, admission } = await siteWithGate(validMs);
    const { remote } = await openWith({});
    expect(textOf(await get(remote, url, { admission }))).toBe('here');
    expect(order).toEqual(['request']);
  });

  test('is one of an owner that knows nothing of admissions: the page is requested as ever', async () => {
    const { url, order } = await siteWithGate();
    const { remote, messages } = await openWith({ waitedMs: 600_000 });
    expect(textOf(await get(remote, url))).toBe('here');
    expect(order).toEqual(['request']);
    expect(JSON.parse(messages[0] ?? '')).not.toHaveProperty('admission');
  });

  test('is no problem for workers of earlier versions: the admission is none of the needs', async () => {
    const { url, admission } = await siteWithGate();
    const { remote, messages } = await openWith({});
    await get(remote, url, { admission });
    const { admission: sent, needs } = readRenderCall(JSON.parse(messages[0] ?? ''));
    expect(sent).toEqual({ validMs: null });
    expect(needs).not.toContain('admission');
  });
});
