import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EngineName, OutcomeKind } from '../../../core/model/attempt.ts';
import type { Consent } from '../../../core/model/policy.ts';
import type { HostMemory } from '../../../core/ports/host-store.ts';
import {
  type Ability,
  costOf,
  type EngineOffer,
  type Installation,
  type LadderPolicy,
  type LadderRequest,
  neededAbilities,
  raisedBy,
} from './fetch-methods.ts';
import { bestFirst, hasGained, learn, NO_MEMORY, noteProbe } from './host-memory.ts';
import { type LadderInput, type LadderStep, methodOf, nextStep, type PastAttempt } from './ladder.ts';

const NOW = 1_800_000_000_000;
const HOUR_MS = 3_600_000;
const NEVER = () => 0.99;
const TIERS = ['datacenter', 'residential', 'mobile'];
const SHOWN: readonly Ability[] = [
  'javascript',
  'screenshots',
  'actions',
  'pdf',
  'xhr',
  'proxies',
  'captcha',
];
const HTTP: EngineOffer = { name: 'http', abilities: ['proxies', 'impersonation'], isAnswering: true };
const BROWSER: EngineOffer = { name: 'browser', abilities: [...SHOWN, 'impersonation'], isAnswering: true };
const STEALTH: EngineOffer = { name: 'stealth', abilities: SHOWN, isAnswering: true };

const REQUEST: LadderRequest = {
  url: 'https://a.example/shop/7',
  engine: 'auto',
  needs: [],
  identity: null,
  proxy: null,
  maxTier: null,
  maxAttempts: 10,
};
const POLICY: LadderPolicy = {
  engines: ['http', 'browser', 'stealth'],
  proxyTier: null,
  maxProxyTier: null,
  consent: [],
};
const INSTALLED: Installation = { engines: [HTTP, BROWSER, STEALTH], tiers: [], hasSolver: false };

interface Change {
  readonly request?: Partial<LadderRequest>;
  readonly policy?: Partial<LadderPolicy>;
  readonly installation?: Partial<Installation>;
  readonly memory?: HostMemory;
  readonly trace?: readonly PastAttempt[];
}
const input = (change: Change = {}): LadderInput => ({
  request: { ...REQUEST, ...change.request },
  policy: { ...POLICY, ...change.policy },
  installation: { ...INSTALLED, ...change.installation },
  memory: change.memory ?? NO_MEMORY,
  trace: change.trace ?? [],
});
const step = (change: Change = {}, random: () => number = NEVER) => nextStep(input(change), NOW, random);
const past = (outcome: OutcomeKind, more: Partial<PastAttempt> = {}): PastAttempt => ({
  engine: 'http',
  proxyTier: null,
  outcome,
  statusCode: outcome === 'ok' ? 200 : 403,
  ...more,
});

describe('the first attempt', () => {
  test('is the cheapest', () => {
    expect(step()).toEqual({
      kind: 'attempt',
      engine: 'http',
      proxyTier: null,
      identity: 'bot',
      hasSolver: false,
      isProbe: false,
      isRetry: false,
      reason: 'plan.cheapest',
    });
  });
  test('for a screen or a place of the caller is made by a browser under our own name', () => {
    const request: Partial<LadderRequest> = { needs: ['devices'] };
    const installation = {
      engines: [HTTP, { ...BROWSER, abilities: [...BROWSER.abilities, 'devices' as const] }, STEALTH],
    };
    const change = { request, installation, policy: { consent: ['stealth', 'identity'] as const } };
    expect(step(change)).toMatchObject({ engine: 'browser', identity: 'bot' });
    expect(step({ ...change, request: { ...request, identity: 'browser' } })).toMatchObject({
      kind: 'stop',
      code: 'UNSUPPORTED_OPTION',
    });
    const blocked = past('blocked', { engine: 'browser' });
    expect(step({ ...change, trace: [blocked] })).toMatchObject({ kind: 'stop', code: 'BLOCKED' });
  });
  test('is what was asked for', () => {
    expect(step({ request: { engine: 'browser' } })).toMatchObject({
      engine: 'browser',
      reason: 'plan.requested',
    });
  });
  test.each([
    [{ wait: { ms: 10 } }, 'javascript'],
    [{ actions: [{ type: 'click' }] }, 'actions'],
    [{ screenshot: {} }, 'screenshots'],
    [{ formats: ['html', 'pdf'] }, 'pdf'],
    [{ formats: ['xhr'] }, 'xhr'],
  ])('goes straight to a browser for %j', (options, need) => {
    const needs = neededAbilities({ formats: [], ...options });
    expect(step({ request: { needs } })).toMatchObject({ engine: 'browser', reason: `plan.needs:${need}` });
    expect(step({ request: { needs, engine: 'http' } })).toEqual({
      kind: 'stop',
      code: 'UNSUPPORTED_OPTION',
      reason: `plan.cannot:${need}`,
    });
  });
  test('needs nothing special for ordinary options', () => {
    expect(neededAbilities({ formats: ['html', 'links'], actions: [], wait: null })).toEqual([]);
  });
  test('begins with the tier that policy names, and shows no other address when there is none', () => {
    const policy = { proxyTier: 'residential' };
    expect(step({ policy, installation: { tiers: TIERS } })).toMatchObject({ proxyTier: 'residential' });
    expect(step({ policy })).toMatchObject({ kind: 'stop', reason: 'plan.no-proxy-tier:residential' });
  });
  test('goes through the proxy that was asked for', () => {
    const own = { tier: 'own', isOwn: true };
    expect(step({ request: { proxy: own } })).toMatchObject({ engine: 'http', proxyTier: 'own' });
    const none = { tier: 'mobile', isOwn: false };
    expect(step({ request: { proxy: none } })).toMatchObject({ reason: 'plan.no-proxy-tier:mobile' });
  });
});

describe('consent', () => {
  test.each([
    [{ engine: 'stealth' as const }, 'stealth'],
    [{ identity: 'browser' as const, engine: 'http' as const }, 'identity'],
    [{ identity: 'browser' as const }, 'stealth,identity'],
  ])('%j is refused without it', (request, consent) => {
    expect(step({ request })).toEqual({
      kind: 'stop',
      code: 'CONSENT_REQUIRED',
      reason: `plan.consent-required:${consent}`,
      missingConsents: consent.split(','),
    });
  });
  test('opens exactly what it names', () => {
    const stealth = step({ request: { engine: 'stealth' }, policy: { consent: ['stealth'] } });
    expect(stealth).toMatchObject({ engine: 'stealth', identity: 'browser' });
    const disguised = step({ request: { identity: 'browser' }, policy: { consent: ['identity'] } });
    expect(disguised).toMatchObject({ engine: 'http', identity: 'browser' });
  });
  test('that is missing is named when nothing else is left', () => {
    const trace = [past('blocked'), past('blocked', { engine: 'browser' })];
    expect(step({ trace })).toEqual({
      kind: 'stop',
      code: 'BLOCKED',
      reason: 'plan.nothing-left:blocked; consent-required:stealth,identity',
      missingConsents: ['stealth', 'identity'],
    });
  });
  test('a solver is used only with it', () => {
    const trace = [past('captcha', { engine: 'browser' })];
    const installation = { hasSolver: true };
    expect(step({ trace, installation })).toMatchObject({
      kind: 'stop',
      code: 'CAPTCHA',
      reason: 'plan.nothing-left:captcha; consent-required:stealth,identity,captcha',
      missingConsents: ['stealth', 'identity', 'captcha'],
    });
    const solved = step({ trace, installation, policy: { consent: ['captcha'] } });
    expect(solved).toMatchObject({ engine: 'browser', hasSolver: true, reason: 'plan.solve:captcha' });
  });
});

describe('after an attempt', () => {
  test('a block leads to no tier above the ceiling of the request or of the policy', () => {
    const installation = { tiers: TIERS };
    const cheap = ['http - bot', 'browser datacenter bot'];
    expect(stepsOf({ installation, request: { maxTier: 'datacenter' } }, 'blocked')).toEqual(cheap);
    expect(stepsOf({ installation, policy: { maxProxyTier: 'datacenter' } }, 'blocked')).toEqual(cheap);
    const both = { request: { maxTier: 'mobile' as const }, policy: { maxProxyTier: 'datacenter' as const } };
    expect(stepsOf({ installation, ...both }, 'blocked')).toEqual(cheap);
    const asked = { proxy: { tier: 'mobile', isOwn: false as const } };
    expect(step({ installation, request: asked, policy: { maxProxyTier: 'residential' } })).toMatchObject({
      kind: 'stop',
      code: 'UNSUPPORTED_OPTION',
      reason: 'plan.no-proxy-tier:mobile',
    });
  });
  test('a shell is rendered, with the same address and name', () => {
    expect(step({ trace: [past('needs-javascript')], installation: { tiers: TIERS } })).toMatchObject({
      engine: 'browser',
      proxyTier: null,
      identity: 'bot',
      reason: 'plan.render:needs-javascript',
    });
  });
  test('a shell stands where there is no browser', () => {
    const installation = { engines: [HTTP] };
    expect(step({ trace: [past('needs-javascript', { statusCode: 200 })], installation })).toEqual({
      kind: 'stop',
      code: null,
      reason: 'plan.nothing-left:needs-javascript',
    });
  });
  test('a block raises engine, tier and identity together, as far as they are there and allowed', () => {
    const consent: Consent[] = ['stealth', 'identity'];
    const change = { policy: { consent }, installation: { tiers: TIERS } };
    expect(stepsOf(change, 'blocked')).toEqual([
      'http - bot',
      'browser datacenter browser',
      'stealth residential browser',
      'stealth mobile browser',
    ]);
    expect(stepsOf({ installation: { tiers: TIERS } }, 'blocked')).toEqual([
      'http - bot',
      'browser datacenter bot',
      'browser residential bot',
      'browser mobile bot',
    ]);
    expect(stepsOf({ request: { engine: 'http' }, policy: { consent } }, 'blocked')).toEqual([
      'http - bot',
      'http - browser',
    ]);
  });
  test('a response that only browsers accept is rendered, with the same address and name', () => {
    const refused = past('error', { errorCode: 'PROTOCOL_ERROR', statusCode: null });
    expect(step({ trace: [refused], installation: { tiers: TIERS } })).toMatchObject({
      engine: 'browser',
      proxyTier: null,
      identity: 'bot',
      isRetry: false,
      reason: 'plan.render:PROTOCOL_ERROR',
    });
    const again = { engine: 'http', isRetry: true, reason: 'plan.retry:PROTOCOL_ERROR' };
    expect(step({ trace: [refused], request: { engine: 'http' } })).toMatchObject(again);
    expect(step({ trace: [refused], installation: { engines: [HTTP] } })).toMatchObject(again);
    const rendered = past('error', { engine: 'browser', errorCode: 'PROTOCOL_ERROR', statusCode: null });
    expect(step({ trace: [refused, rendered] })).toMatchObject({ engine: 'browser', isRetry: true });
  });
  test.each(['HEADERS_TIMEOUT', 'CONNECTION_RESET', 'NO_WORKER', 'TASK_TIMEOUT'] as const)(
    '%s is tried again the same way',
    (errorCode) => {
      const trace = [
        past('needs-javascript'),
        past('error', { engine: 'browser', errorCode, statusCode: null }),
      ];
      expect(step({ trace })).toMatchObject({ engine: 'browser', reason: `plan.retry:${errorCode}` });
    },
  );
  test('503 and 429 are tried again the same way', () => {
    expect(step({ trace: [past('error', { statusCode: 503 })] })).toMatchObject({
      engine: 'http',
      reason: 'plan.retry:503',
    });
    const limited = past('rate-limited', { statusCode: 429 });
    expect(step({ trace: [limited] })).toMatchObject({ engine: 'http', reason: 'plan.retry:rate-limited' });
  });
  test.each([
    [past('ok'), null],
    [past('soft-404', { statusCode: 200 }), null],
    [past('error', { statusCode: 404 }), 'HTTP_ERROR'],
    [past('error', { errorCode: 'ADDRESS_REFUSED', statusCode: null }), 'ADDRESS_REFUSED'],
    [past('login-wall', { statusCode: 200 }), null],
  ])('%j ends it', (attempt, code) => {
    expect(step({ trace: [attempt] })).toMatchObject({ kind: 'stop', code });
  });
  test('no more are made than were allowed', () => {
    expect(step({ trace: [past('blocked')], request: { maxAttempts: 1 } })).toEqual({
      kind: 'stop',
      code: 'BLOCKED',
      reason: 'plan.attempts-spent:1',
    });
  });
  test('an engine that is away is not waited for, and plain HTTP goes on', () => {
    const engines = [HTTP, { ...BROWSER, isAnswering: false }];
    expect(step({ installation: { engines } })).toMatchObject({ engine: 'http' });
    expect(step({ installation: { engines }, request: { engine: 'browser' } })).toMatchObject({
      code: 'NO_WORKER',
      reason: 'plan.no-worker:browser',
    });
  });
  test('a page that was tried with an engine that is away now waits for it, and so does one that needs one seen before', () => {
    const silent = { ...BROWSER, isAnswering: false };
    const timedOut = past('error', { engine: 'browser', errorCode: 'TASK_TIMEOUT', statusCode: null });
    for (const engines of [[HTTP, silent], [silent]]) {
      expect(step({ installation: { engines }, trace: [timedOut] })).toMatchObject({
        engine: 'browser',
        isRetry: true,
      });
    }
    const shell = [past('needs-javascript', { statusCode: 200 })];
    const expected = { ...silent, isExpected: true };
    expect(step({ installation: { engines: [HTTP, expected] }, trace: shell })).toMatchObject({
      engine: 'browser',
      reason: 'plan.render:needs-javascript',
    });
    // A fleet that never had a render worker takes the page as it is.
    expect(step({ installation: { engines: [HTTP, silent] }, trace: shell })).toMatchObject({
      kind: 'stop',
      code: null,
    });
    // An engine that answers comes first.
    const consent = ['stealth'] as const;
    expect(
      step({ policy: { consent }, installation: { engines: [HTTP, expected, STEALTH] }, trace: shell }),
    ).toMatchObject({ engine: 'stealth' });
  });
  test('what happened before a redirect from another host says nothing here', () => {
    const trace = [past('blocked'), past('ok', { engine: 'browser', statusCode: 302 })];
    expect(step({ trace })).toMatchObject({ engine: 'http', reason: 'plan.cheapest' });
  });
  test('a page that answered 200 and left for this host by its script says nothing here, and costs no attempt', () => {
    const trace = [past('ok', { engine: 'browser', statusCode: 200, ledOn: true })];
    expect(step({ trace, request: { maxAttempts: 1 } })).toMatchObject({
      kind: 'attempt',
      reason: 'plan.cheapest',
    });
  });
});

/** Ways that are tried when each attempt comes to this. */
function stepsOf(change: Change, outcome: OutcomeKind): string[] {
  const trace: PastAttempt[] = [];
  const names: string[] = [];
  for (;;) {
    const next = step({ ...change, trace });
    if (next.kind === 'stop') return names;
    names.push(`${next.engine} ${next.proxyTier ?? '-'} ${next.identity}`);
    trace.push(past(outcome, next));
  }
}

/** Fetches pages from a host that answers as `answer` says, and learns. */
function visit(
  urls: readonly string[],
  answer: (way: LadderStep & { kind: 'attempt' }, url: string) => OutcomeKind,
  change: Change = {},
  random: () => number = NEVER,
) {
  let memory = change.memory ?? NO_MEMORY;
  const pages = urls.map((url, index) => {
    const now = NOW + index * 60_000;
    const trace: PastAttempt[] = [];
    for (;;) {
      const next = nextStep(
        input({ ...change, request: { ...change.request, url }, memory, trace }),
        now,
        random,
      );
      if (next.kind === 'stop') return { url, trace };
      if (next.isProbe) memory = noteProbe(memory, now);
      const attempt = past(answer(next, url), next);
      memory = learn(memory, { ...next, ...attempt, identity: next.identity, url }, now);
      trace.push(attempt);
    }
  });
  return { pages, memory };
}
const urls = (count: number, path = '/shop/') =>
  Array.from({ length: count }, (_, index) => `https://a.example${path}${index}`);

describe('a host that has been learned', () => {
  test('needs one attempt per page where all pages are shells', () => {
    const { pages } = visit(urls(50), ({ engine }) => (engine === 'http' ? 'needs-javascript' : 'ok'));
    expect(pages.map(({ trace }) => trace.length)).toEqual([2, ...Array(49).fill(1)]);
    expect(pages.at(-1)?.trace[0]?.engine).toBe('browser');
  });

  test('needs one attempt per page where some shapes are shells, and a browser only for those', () => {
    const mixed = urls(40).flatMap((url, index) => [url, `https://a.example/app/list?page=${index}`]);
    const isShell = (url: string) => url.includes('/app/');
    const { pages } = visit(mixed, ({ engine }, url) =>
      engine === 'http' && isShell(url) ? 'needs-javascript' : 'ok',
    );
    for (const { url, trace } of pages.slice(2)) {
      expect(trace.map(({ engine }) => engine)).toEqual([isShell(url) ? 'browser' : 'http']);
    }
  });

  test('is asked in the way that it lets in', () => {
    const change = { installation: { tiers: TIERS }, policy: { consent: ['stealth'] as Consent[] } };
    const { pages } = visit(
      urls(30),
      ({ proxyTier }) => (proxyTier === 'residential' ? 'ok' : 'blocked'),
      change,
    );
    expect(pages[0]?.trace.map(({ proxyTier }) => proxyTier)).toEqual([null, 'datacenter', 'residential']);
    expect(new Set(pages.slice(1).map(({ trace }) => trace.length))).toEqual(new Set([1]));
  });

  test('a screenshot does not make a browser of every page', () => {
    const { memory } = visit(urls(5), () => 'ok', { request: { needs: ['screenshots'] } });
    expect(step({ memory })).toMatchObject({ engine: 'http' });
  });

  test('is probed the cheaper way, rarely, and found out when it changes', () => {
    const { memory } = visit(urls(10), ({ engine }) => (engine === 'http' ? 'needs-javascript' : 'ok'));
    const later = NOW + 2 * HOUR_MS;
    const lucky = () => 0.001;
    const probe = nextStep(input({ memory }), later, lucky);
    expect(probe).toMatchObject({ engine: 'http', isProbe: true, reason: 'plan.probe' });
    expect(nextStep(input({ memory }), later, () => 0.5)).toMatchObject({ reason: 'plan.remembered' });
    const probed = noteProbe(memory, later);
    expect(nextStep(input({ memory: probed }), later + HOUR_MS - 1, lucky)).toMatchObject({
      engine: 'browser',
    });
    expect(nextStep(input({ memory: probed }), later + HOUR_MS, lucky)).toMatchObject({ isProbe: true });
    let changed = probed;
    for (let count = 0; count < 3; count += 1) {
      changed = learn(changed, { ...past('ok'), identity: 'bot', url: REQUEST.url }, later);
    }
    expect(nextStep(input({ memory: changed }), later, NEVER)).toMatchObject({ engine: 'http' });
  });

  test('is not rendered on when that brings nothing', () => {
    const shell = { ...past('needs-javascript'), identity: 'bot' as const, url: REQUEST.url };
    const shown = { ...past('ok', { engine: 'browser' }), identity: 'bot' as const, url: REQUEST.url };
    const once = learn(NO_MEMORY, shell, NOW);
    expect(step({ memory: learn(once, shown, NOW) })).toMatchObject({ engine: 'browser' });
    expect(step({ memory: learn(once, { ...shown, hasGained: false }, NOW) })).toMatchObject({
      engine: 'http',
    });
    expect(hasGained({ textLength: 40, linkCount: 1 }, { textLength: 90, linkCount: 2 })).toBe(false);
    expect(hasGained({ textLength: 40, linkCount: 1 }, { textLength: 900, linkCount: 2 })).toBe(true);
  });
});

const someEngines = fc.subarray<EngineName>(['http', 'browser', 'stealth']);
const someInput = fc.record({
  request: fc.record({
    url: fc.constantFrom('https://a.example/', 'https://a.example/app/list', 'https://a.example/t/9'),
    engine: fc.constantFrom<'auto' | EngineName>('auto', 'auto', 'auto', 'http', 'browser', 'stealth'),
    needs: fc.subarray<Ability>(['javascript', 'screenshots'], { maxLength: 1 }),
    identity: fc.constantFrom(null, null, 'bot' as const, 'browser' as const),
    proxy: fc.constantFrom(null, null, { tier: 'residential', isOwn: false }, { tier: 'own', isOwn: true }),
    maxTier: fc.constantFrom(null, null, 'datacenter' as const, 'residential' as const),
    maxAttempts: fc.integer({ min: 1, max: 10 }),
  }),
  policy: fc.record({
    engines: someEngines,
    proxyTier: fc.constantFrom(null, null, 'datacenter', 'mobile'),
    maxProxyTier: fc.constantFrom(null, null, 'datacenter' as const),
    consent: fc.subarray<Consent>(['stealth', 'captcha', 'identity']),
  }),
  installation: fc.record({
    engines: fc.subarray([HTTP, BROWSER, STEALTH, { ...BROWSER, isAnswering: false }]),
    tiers: fc.subarray(TIERS),
    hasSolver: fc.boolean(),
  }),
});
const someEnd = fc.constantFrom<Partial<PastAttempt> & { outcome: OutcomeKind }>(
  { outcome: 'blocked' },
  { outcome: 'captcha' },
  { outcome: 'needs-javascript' },
  { outcome: 'error', statusCode: 503 },
  { outcome: 'error', statusCode: null, errorCode: 'CONNECTION_RESET' },
  { outcome: 'error', statusCode: 404 },
  { outcome: 'ok' },
);

test('whatever happens, it stays within what is allowed, ends, and gets dearer only by evidence', () => {
  fc.assert(
    fc.property(
      someInput,
      fc.array(someEnd, { minLength: 12, maxLength: 12 }),
      fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 3, maxLength: 3 }),
      ({ request, policy, installation }, ends, chances) => {
        const trace: PastAttempt[] = [];
        let memory = NO_MEMORY;
        for (const end of ends) {
          const given = { request, policy, installation, memory, trace };
          const random = () => chances[trace.length % chances.length] ?? 0;
          const next = nextStep(given, NOW, random);
          expect(nextStep(given, NOW, random)).toEqual(next);
          if (next.kind === 'stop') {
            expect(next.reason).toMatch(/^plan\.[a-z-]+/);
            return;
          }
          expect(policy.engines).toContain(next.engine);
          expect(
            installation.engines.some(({ name, isAnswering }) => name === next.engine && isAnswering),
          ).toBe(true);
          if (request.engine !== 'auto') expect(next.engine).toBe(request.engine);
          if (next.engine === 'stealth') expect(policy.consent).toContain('stealth');
          else if (next.identity === 'browser') expect(policy.consent).toContain('identity');
          if (next.hasSolver) expect(policy.consent).toContain('captcha');
          if (request.identity !== null) expect(next.identity).toBe(request.identity);
          if (request.proxy !== null) expect(next.proxyTier).toBe(request.proxy.tier);
          else if (next.proxyTier === null) expect(policy.proxyTier).toBeNull();
          else expect(installation.tiers).toContain(next.proxyTier);
          const ceilings = request.proxy?.isOwn === true ? [] : [request.maxTier, policy.maxProxyTier];
          for (const most of ceilings) {
            if (most !== null)
              expect(TIERS.indexOf(next.proxyTier ?? '')).toBeLessThanOrEqual(TIERS.indexOf(most));
          }

          const last = trace.at(-1);
          if (last !== undefined) {
            const before = methodOf(last, request);
            expect(raisedBy(next, before, installation.tiers)).not.toBeNull();
            const isDearer = costOf(next, installation.tiers) > costOf(before, installation.tiers);
            if (last.outcome === 'error') expect(isDearer).toBe(false);
            else expect(isDearer || next.hasSolver).toBe(true);
          }
          const attempt = { ...past(end.outcome, next), ...end };
          memory = learn(memory, { ...next, ...attempt, identity: next.identity, url: request.url }, NOW);
          trace.push(attempt);
          expect(trace.length).toBeLessThanOrEqual(request.maxAttempts);
        }
        expect.fail('it did not end');
      },
    ),
    { numRuns: 500 },
  );
});

test('the order of ways is a matter of what they are and what is remembered, not of how they are listed', () => {
  const ways = (['http', 'browser'] as const).flatMap((engine) =>
    [null, ...TIERS].map((proxyTier) => ({ engine, proxyTier, identity: 'bot' as const })),
  );
  const ordered = bestFirst(NO_MEMORY, ways, TIERS, REQUEST.url, NOW);
  expect(ordered.map((way) => costOf(way, TIERS))).toEqual(
    ways.map((way) => costOf(way, TIERS)).toSorted((a, b) => a - b),
  );
  fc.assert(
    fc.property(fc.shuffledSubarray(ways, { minLength: ways.length }), (shuffled) => {
      expect(bestFirst(NO_MEMORY, shuffled, TIERS, REQUEST.url, NOW)).toEqual(ordered);
    }),
  );
});

describe('a browser that was lost', () => {
  const lost = past('error', { engine: 'browser', errorCode: 'BROWSER_LOST', statusCode: null });
  const once = { engine: 'browser' as const, maxAttempts: 1 };

  test('costs the URL no attempt, the first times', () => {
    for (const trace of [[lost], [lost, lost], [lost, lost, lost]]) {
      expect(step({ request: once, trace })).toMatchObject({
        kind: 'attempt',
        engine: 'browser',
        isRetry: true,
        reason: 'plan.retry:BROWSER_LOST',
      });
    }
  });

  test('is the end of a URL that takes every browser down', () => {
    const trace = Array.from({ length: 4 }, () => lost);
    expect(step({ request: once, trace })).toMatchObject({ kind: 'stop', code: 'BROWSER_LOST' });
    const more = { ...once, maxAttempts: 3 };
    expect(step({ request: more, trace: [...trace, lost] })).toMatchObject({ kind: 'attempt' });
    expect(step({ request: more, trace: [...trace, lost, lost] })).toMatchObject({ kind: 'stop' });
  });

  test('leaves what other failures cost as it is', () => {
    const timeout = past('error', { engine: 'browser', errorCode: 'TASK_TIMEOUT', statusCode: null });
    expect(step({ request: once, trace: [lost, timeout] })).toMatchObject({ code: 'TASK_TIMEOUT' });
  });
});
