import { describe, expect, it } from 'vitest';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { browserPart, createReadiness } from './readiness.ts';

const works = async () => undefined;
const never = () => new Promise<void>(() => undefined);
const refused = new ScrapifieError('STORE_REFUSED', 'PostgreSQL at 10.0.0.7:5432 refuses user scraper.');

describe('readiness', () => {
  it('is lost with an essential part only; others are degraded', async () => {
    const readiness = createReadiness({
      parts: {
        store: { check: works, isEssential: true },
        queue: { check: () => Promise.reject(refused), isEssential: false },
      },
      now: () => 0,
    });
    expect(await readiness()).toMatchObject({
      isReady: true,
      parts: { store: { status: 'ok' }, queue: { status: 'degraded' } },
    });
    const without = createReadiness({
      parts: { store: { check: () => Promise.reject(refused), isEssential: true } },
      now: () => 0,
    });
    expect(await without()).toMatchObject({ isReady: false, parts: { store: { status: 'failing' } } });
  });

  it('follows what is known of the browsers, which not every process needs', async () => {
    let health: Awaited<ReturnType<Parameters<typeof browserPart>[0]>> = {
      state: 'ok',
      code: null,
      reason: null,
    };
    const readiness = createReadiness({
      parts: {
        needed: browserPart(async () => health, true),
        wanted: browserPart(async () => health, false),
      },
      freshMs: 0,
      now: () => 0,
    });
    expect(await readiness()).toMatchObject({ isReady: true, parts: { needed: { status: 'ok' } } });
    health = { state: 'degraded', code: 'NO_BROWSER', reason: 'the program was removed' };
    expect(await readiness()).toMatchObject({ isReady: true, parts: { needed: { status: 'degraded' } } });
    health = { state: 'failing', code: 'BROWSER_LOST', reason: 'it did not show a test page' };
    expect(await readiness()).toMatchObject({
      isReady: false,
      parts: {
        needed: { status: 'failing', code: 'BROWSER_LOST', reason: health.reason },
        wanted: { status: 'degraded', code: 'BROWSER_LOST' },
      },
    });
  });

  it('tells of a part that works in another way than it should', async () => {
    let why: string | null = 'the object store at 10.0.0.9 is away';
    const readiness = createReadiness({
      parts: { blobs: { check: works, isEssential: true, degradation: () => why } },
      freshMs: 0,
      now: () => 0,
    });
    expect(await readiness()).toMatchObject({
      isReady: true,
      parts: { blobs: { status: 'degraded', reason: why } },
    });
    why = null;
    expect((await readiness()).parts.blobs).toEqual({ status: 'ok', ms: 0 });
  });

  it('keeps what exactly is wrong apart from what anybody may know', async () => {
    const readiness = createReadiness({
      parts: {
        store: { check: () => Promise.reject(refused), isEssential: true },
        disk: { check: () => Promise.reject(new Error('EIO /srv/secret')), isEssential: true },
        silent: { check: never, isEssential: true },
      },
      limitMs: 5,
      now: () => 0,
    });
    const { store, disk, silent } = (await readiness()).parts;
    expect(store).toMatchObject({ code: 'STORE_REFUSED', reason: refused.message });
    expect(`${store?.message}${disk?.message}`).not.toMatch(/10\.0\.0\.7|scraper|secret/);
    expect(disk).toMatchObject({ reason: 'EIO /srv/secret' });
    expect(silent).toMatchObject({ status: 'failing', message: 'No answer within 5 ms.' });
  });

  it('tries each part once at a time, however many ask and however long it takes', async () => {
    const tries = { quick: 0, hung: 0 };
    const { promise: hung, resolve: release } = Promise.withResolvers<void>();
    const readiness = createReadiness({
      parts: {
        quick: {
          async check() {
            tries.quick += 1;
          },
          isEssential: true,
        },
        hung: {
          check() {
            tries.hung += 1;
            return hung;
          },
          isEssential: true,
        },
      },
      limitMs: 5,
      freshMs: 0,
      now: () => 0,
    });
    const [first, second] = await Promise.all([readiness(), readiness()]);
    expect(second).toBe(first);
    expect(tries).toEqual({ quick: 1, hung: 1 });
    expect((await readiness()).isReady).toBe(false);
    expect(tries).toEqual({ quick: 2, hung: 1 });
    release();
    expect((await readiness()).isReady).toBe(true);
    expect((await readiness()).isReady).toBe(true);
    expect(tries.hung).toBe(2);
  });

  it('shares an answer for a moment', async () => {
    const clock = { now: 0 };
    let tries = 0;
    const check = async () => {
      tries += 1;
    };
    const readiness = createReadiness({
      parts: { store: { check, isEssential: true } },
      freshMs: 500,
      now: () => clock.now,
    });
    for (clock.now of [0, 100, 499]) await readiness();
    expect(tries).toBe(1);
    clock.now = 500;
    await readiness();
    expect(tries).toBe(2);
  });
});
