import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { RenderExtra } from '../../core/model/render.ts';
import type { Rendered } from '../engine.ts';
import { MOST_PACK_BYTES, packRendered, readHeadAlone, readPack, writePack } from './rendered-pack.ts';

const NOTHING: RenderExtra = {
  screenshot: null,
  pdf: null,
  xhr: [],
  consoleErrors: [],
  actions: [],
  storage: null,
};
const there = (rendered: Rendered): Rendered => readPack(writePack(packRendered(rendered), 'mark'));

test('everything that an engine tells of a page travels', () => {
  type Known =
    | 'screenshot'
    | 'pdf'
    | 'xhr'
    | 'consoleErrors'
    | 'actions'
    | 'failurePicture'
    | 'storage'
    | 'captcha';
  // Does not compile when there is more: it would be lost on the way.
  expectTypeOf<Exclude<keyof RenderExtra, Known>>().toBeNever();
  expectTypeOf<Exclude<keyof Rendered, 'rawBody' | 'extra' | 'failure'>>().toBeNever();
});

const bytes = fc.uint8Array({ maxLength: 300 });
const maybe = <T>(some: fc.Arbitrary<T>) => fc.option(some, { nil: null });
const picture = fc.record({
  bytes,
  contentType: fc.constantFrom('image/png' as const, 'image/jpeg' as const),
});
const text = fc.string({ unit: 'grapheme' });
const rendered: fc.Arbitrary<Rendered> = fc.record({
  rawBody: maybe(bytes.map((given) => new Uint8Array(given))),
  extra: fc.record({
    screenshot: maybe(picture),
    pdf: maybe(bytes),
    xhr: fc.array(
      fc.record({
        url: text,
        method: text,
        statusCode: fc.nat(999),
        contentType: maybe(text),
        body: maybe(bytes),
        isTooLarge: fc.boolean(),
      }),
    ),
    consoleErrors: fc.array(text),
    actions: fc.array(
      fc
        .record({ value: fc.jsonValue(), picture }, { requiredKeys: [] })
        .map((more) => ({ type: 'evaluate' as const, ms: 1, ...more })),
    ),
    storage: maybe(
      fc.record({
        cookies: fc.constant([]),
        localStorage: fc.dictionary(text, fc.dictionary(text, text)),
      }),
    ),
  }),
  failure: fc.constant(null),
});

describe('a pack', () => {
  test('brings back what was put in', () => {
    fc.assert(fc.property(rendered, (given) => void expect(there(given)).toEqual(given)));
  });

  test('brings back the picture of a page on which a step failed', () => {
    const failurePicture = { bytes: new Uint8Array([1, 2, 3]), contentType: 'image/png' as const };
    const given = { rawBody: null, extra: { ...NOTHING, failurePicture }, failure: null };
    expect(there(given)).toEqual(given);
  });

  test('brings errors back with code, message and details', () => {
    const failure = new ScrapifieError('ACTION_FAILED', 'actions.1 click: no', {
      details: { step: 'actions.1 click' },
      retryAfterMs: 5,
      cause: new Error('hunter2'),
    });
    const pack = writePack(packRendered({ rawBody: null, extra: NOTHING, failure }), 'mark');
    expect(Buffer.from(pack).toString()).not.toContain('hunter2');
    expect(readPack(pack).failure).toBeInstanceOf(ScrapifieError);
    expect(readPack(pack).failure).toMatchObject({
      code: 'ACTION_FAILED',
      message: 'actions.1 click: no',
      details: { step: 'actions.1 click' },
      retryAfterMs: 5,
    });
  });

  test('a code of a newer version is a fault', () => {
    const { head } = packRendered({ rawBody: null, extra: NOTHING, failure: null });
    const newer = { ...head, failure: { code: 'MOON_FULL', message: 'm' }, another: 1 };
    expect(readHeadAlone(newer).failure).toMatchObject({ code: 'INTERNAL', message: 'm' });
  });

  test('parts stand alone on their buffers', () => {
    const { rawBody } = there({ rawBody: new Uint8Array(10), extra: NOTHING, failure: null });
    expect(rawBody?.buffer.byteLength).toBe(10);
  });

  test('too much for a pack is left behind, and the failure says so', () => {
    const large = new Uint8Array(MOST_PACK_BYTES / 2 + 1);
    const screenshot = { bytes: large, contentType: 'image/png' as const };
    const extra: RenderExtra = { ...NOTHING, screenshot, pdf: large, consoleErrors: ['kept'] };
    const pack = packRendered({ rawBody: null, extra, failure: null });
    expect(pack.parts).toEqual([]);
    expect(readHeadAlone(pack.head)).toMatchObject({
      extra: { screenshot: null, pdf: null, consoleErrors: ['kept'] },
      failure: { code: 'BODY_LIMIT_EXCEEDED' },
    });
  });

  test('what is none is refused, whatever it is', () => {
    const good = writePack(
      packRendered({ rawBody: new Uint8Array(randomBytes(50)), extra: NOTHING, failure: null }),
      'mark',
    );
    const codeOf = (given: Uint8Array): string => {
      try {
        readPack(given);
        return 'none';
      } catch (error) {
        return error instanceof ScrapifieError ? error.code : String(error);
      }
    };
    expect(codeOf(good)).toBe('none');
    expect(codeOf(good.subarray(0, good.byteLength - 1))).toBe('INTERNAL');
    expect(codeOf(new Uint8Array(0))).toBe('INTERNAL');
    fc.assert(fc.property(fc.uint8Array({ maxLength: 60 }), (given) => codeOf(given) === 'INTERNAL'));
  });
});
