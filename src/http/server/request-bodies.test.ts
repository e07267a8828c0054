import { PassThrough } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { isScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { holdRequestBodies, type RequestBodies, type RequestBodyLimits } from './request-bodies.ts';

const KB = 1_024;
let bodies: RequestBodies | undefined;
afterEach(() => bodies?.close());

function hold(limits: Partial<RequestBodyLimits> = {}): RequestBodies {
  bodies = holdRequestBodies({
    maxHeldBytes: 800 * KB,
    minBytesPerSecond: 1_000,
    now: () => 0,
    onSlow: () => undefined,
    ...limits,
  });
  return bodies;
}

/** A request that arrives as the test writes it. */
function arriving(from: { account?: string; ip?: string; declared?: number } = {}) {
  const raw = new PassThrough();
  const headers = from.declared === undefined ? {} : { 'content-length': String(from.declared) };
  Object.assign(raw, { headers, httpVersion: '1.1' });
  const key = from.account === undefined ? null : { accountId: from.account };
  return { raw, request: { raw, key, ip: from.ip ?? '192.0.2.1' } as unknown as FastifyRequest };
}

/** Reads it, and tells how that ended: the length of the body, or the code of the error. */
function read(holder: RequestBodies, request: FastifyRequest, limitBytes = 10_000 * KB) {
  const end = { result: undefined as number | string | undefined };
  const ended = new Promise<number | string>((resolve) =>
    holder.read(request, limitBytes, (error, body) => {
      end.result = error === null ? body.length : isScrapifieError(error) ? error.code : error.message;
      resolve(end.result);
    }),
  );
  return { ended, end };
}

async function write(raw: PassThrough, bytes: number): Promise<void> {
  await new Promise<void>((resolve) => raw.write(Buffer.alloc(bytes, 'a'), () => resolve()));
}

describe('bodies of requests', () => {
  it('are handed on whole, whatever pieces they come in, and held no longer', async () => {
    const holder = hold();
    const { raw, request } = arriving({ account: 'a' });
    const { ended } = read(holder, request);
    for (const bytes of [1, 5_000, 1, 70_000, 3]) await write(raw, bytes);
    raw.end();
    expect(await ended).toBe(75_005);
    expect(holder.heldBytes()).toBe(0);
  });

  it('are held in about their own length, also in pieces of one byte', async () => {
    const holder = hold();
    const { raw, request } = arriving({ account: 'a' });
    read(holder, request);
    for (let n = 0; n < 3_000; n += 1) raw.write('a');
    await write(raw, 1);
    expect(holder.heldBytes()).toBe(4 * KB);
    raw.destroy();
  });

  it('come in a bounded number of pieces without a key', async () => {
    const holder = hold();
    const { raw, request } = arriving();
    const { ended, end } = read(holder, request);
    for (let n = 0; n < 256; n += 1) await write(raw, 1);
    expect(end.result).toBeUndefined();
    await write(raw, 1);
    expect(await ended).toBe('BAD_REQUEST');
    expect(holder.heldBytes()).toBe(0);
  });

  it('are refused by what their head says, before a byte has come', async () => {
    const holder = hold();
    const { request } = arriving({ declared: 20 * KB });
    expect(await read(holder, request, 16 * KB).ended).toBe('BODY_TOO_LARGE');
  });

  it('are refused when they turn out too large, or break off, and hold nothing then', async () => {
    const holder = hold();
    const large = arriving();
    const first = read(holder, large.request, 16 * KB);
    await write(large.raw, 17 * KB);
    expect(await first.ended).toBe('BODY_TOO_LARGE');
    const broken = arriving({ declared: 9_000 });
    const second = read(holder, broken.request);
    await write(broken.raw, 1_000);
    broken.raw.destroy();
    expect(await second.ended).toBe('BAD_REQUEST');
    const short = arriving({ declared: 9_000 });
    const third = read(holder, short.request);
    await write(short.raw, 1_000);
    short.raw.end();
    expect(await third.ended).toBe('MALFORMED_JSON');
    expect(holder.heldBytes()).toBe(0);
  });
});

describe('what all unfinished bodies may hold', () => {
  it('has a part for requests without a key, of which an address gets half; with keys there is room besides', async () => {
    const holder = hold();
    const held = async (from: Parameters<typeof arriving>[0]) => {
      const { raw, request } = arriving(from);
      const { end } = read(holder, request);
      await write(raw, 16 * KB);
      return end;
    };
    const ends = [];
    for (let n = 0; n < 5; n += 1) ends.push(await held({ ip: '192.0.2.1' }));
    for (let n = 0; n < 5; n += 1) ends.push(await held({ ip: `192.0.2.${n + 2}` }));
    expect(ends.map(({ result }) => result ?? 'held')).toEqual([
      ...Array(3).fill('held'),
      ...Array(2).fill('OVERLOADED'),
      ...Array(3).fill('held'),
      ...Array(2).fill('OVERLOADED'),
    ]);
    expect(holder.heldBytes()).toBe(6 * 16 * KB);
    expect(await held({ account: 'a' })).toEqual({ result: undefined });
  });

  it('gives an account half of the part for keys, and lets one body alone be of any length', async () => {
    const holder = hold();
    const large = arriving({ account: 'a' });
    const { ended, end } = read(holder, large.request);
    await write(large.raw, 2_000 * KB);
    expect(end.result).toBeUndefined();
    const other = arriving({ account: 'b', declared: 10 });
    expect(await read(holder, other.request).ended).toBe('OVERLOADED');
    large.raw.end();
    expect(await ended).toBe(2_000 * KB);
    const again = arriving({ account: 'a', declared: 300 * KB });
    read(holder, again.request);
    await write(again.raw, 300 * KB);
    const same = arriving({ account: 'a', declared: 300 * KB });
    expect(await read(holder, same.request).ended).toBe('OVERLOADED');
    const next = arriving({ account: 'b', declared: 300 * KB });
    const { end: nextEnd } = read(holder, next.request);
    await write(next.raw, 300 * KB);
    expect(nextEnd.result).toBeUndefined();
  });
});

describe('a sender that is slow', () => {
  it('is cut off when it stays below the rate for a stretch, also after it was fast', async () => {
    let at = 0;
    let slow = 0;
    const holder = hold({
      now: () => at,
      onSlow: () => {
        slow += 1;
      },
    });
    const steady = arriving({ account: 'a' });
    const { end } = read(holder, steady.request);
    const burst = arriving({ account: 'b' });
    const { end: burstEnd } = read(holder, burst.request);
    await write(burst.raw, 100 * KB);
    for (let second = 1; second <= 60; second += 1) {
      at += 1_000;
      await write(steady.raw, 1_100);
      holder.sweep();
      if (second === 16) expect(burstEnd.result).toBeUndefined();
    }
    expect([end.result, burstEnd.result, slow]).toEqual([undefined, 'BODY_TOO_SLOW', 1]);
  });
});
