import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addressAt } from '../../../test/site/hosts.ts';
import { NASTY, type NastyCase } from '../../../test/site/nasty.ts';
import { type Site, startSite } from '../../../test/site/site.ts';
import { isScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Engine, FetchRequest } from '../engine.ts';
import { get, testEngine } from '../http/loopback.fixture.ts';
import { openRemotePair } from './remote.fixture.ts';

const LIMIT_MS = 120_000;
const LIMITS = { maxBodyBytes: 10_485_760, maxRedirects: 10 };
/** What hangs, hangs for ever; the rest gets time, because the machine may be busy. */
const HURRY = { headersTimeoutMs: 300, bodyTimeoutMs: 300 };
const HURRY_MS = 3_000;
const PATIENCE_MS = 60_000;
const METHODS = ['GET', 'POST', 'HEAD'] as const;

let site: Site;
beforeAll(async () => {
  site = await startSite({ log: 'off' });
});
afterAll(() => site.close());

const codesOf = ({ expect: { code, otherCodes = [] } }: NastyCase): readonly string[] =>
  code === undefined ? [] : [code, ...otherCodes];
const hangs = (nasty: NastyCase): boolean =>
  nasty.path.includes('hangs') || codesOf(nasty).some((code) => code.endsWith('_TIMEOUT'));

type Outcome =
  | { readonly code: string; readonly message: string }
  | { readonly headers: readonly string[]; readonly bodyHash: string };

/** What an attempt comes to, in all that does not differ between two requests for the same page. */
async function outcomeOf(engine: Engine, url: string, more: Partial<FetchRequest>): Promise<Outcome> {
  try {
    const response = await get(engine, url, { ...LIMITS, ...more });
    const { statusCode, contentType, redirects, redirectedTo, finalUrl, wireBytes, httpVersion, body } =
      response;
    const said = { statusCode, contentType, redirects, redirectedTo, finalUrl, wireBytes, httpVersion };
    return { ...said, headers: Object.keys(response.headers), bodyHash: hash('sha256', body) };
  } catch (error) {
    if (!isScrapifieError(error)) throw error;
    const { code, message } = error;
    return { code, message };
  }
}

/** One line per case and method. Every case has a host of its own, so that none meets the others' visits. */
async function outcomesOf(
  engine: Engine,
  cases: readonly NastyCase[],
  timeoutMs = PATIENCE_MS,
): Promise<object[]> {
  // Pages that count their visitors, and recover or change with them, begin anew.
  site.reset();
  const attempts = cases.flatMap((nasty, index) => {
    const url = `http://${addressAt(index + 1)}:${site.port}${nasty.path}`;
    const methods = nasty.requires === 'method' ? METHODS : (['GET'] as const);
    return methods.map(async (method) => {
      const more = { timeoutMs, method, body: method === 'POST' ? 'a=1' : null };
      const outcome = await outcomeOf(engine, url, more);
      const codes = codesOf(nasty);
      // Where the protocol leaves open who notices first, so does this.
      const isOpen = codes.length > 1 && 'code' in outcome && codes.includes(outcome.code);
      return { name: nasty.name, method, ...(isOpen ? { codes } : outcome) };
    });
  });
  return Promise.all(attempts);
}

describe('through the queue every nasty page ends as it does in the engine itself', () => {
  const fetchable = NASTY.filter(({ requires }) => requires !== 'guard');
  test.each([
    ['what hangs', fetchable.filter(hangs), HURRY, HURRY_MS],
    ['what does not', fetchable.filter((nasty) => !hangs(nasty)), {}, PATIENCE_MS],
  ] as const)(
    '%s',
    async (_, cases, options, timeoutMs) => {
      const engine = testEngine(options);
      const { remote, troubles } = await openRemotePair(engine);
      const direct = await outcomesOf(engine, cases, timeoutMs);
      const distant = await outcomesOf(remote, cases, timeoutMs);
      expect(distant).toEqual(direct);
      expect(troubles).toEqual([]);
    },
    LIMIT_MS,
  );

  test('what the address guard refuses', async () => {
    const engine = testEngine({ allowPrivate: (address) => address.startsWith('127.') });
    const { remote } = await openRemotePair(engine);
    const guarded = NASTY.filter(({ requires }) => requires === 'guard');
    const distant = await outcomesOf(remote, guarded);
    expect(distant).toEqual(await outcomesOf(engine, guarded));
    expect(distant).toMatchObject(guarded.map(({ expect: { code } }) => ({ code })));
  });
});
