import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../src/core/errors/registry.ts';
import { createLogger, withIds } from '../../src/core/observe/logger.ts';
import { createMetrics } from '../../src/core/observe/metrics.ts';
import { logCompleted, logFailed } from '../../src/core/observe/task-log.ts';

/** Lines as written, each without its newline. */
function record(): { logger: ReturnType<typeof createLogger>; lines: string[] } {
  const lines: string[] = [];
  return {
    logger: createLogger({ level: 'trace', destination: { write: (line) => void lines.push(line) } }),
    lines,
  };
}

const facts = {
  jobId: fc.uuid(),
  taskId: fc.nat(),
  url: fc.webUrl({ withQueryParameters: true, withFragments: true }),
  engine: fc.constantFrom('http', 'browser', 'stealth'),
  durationMs: fc.double({ min: 0, max: 60_000, noNaN: true }),
  attempts: fc.integer({ min: 1, max: 10 }),
};
const completed = fc.record({
  ...facts,
  statusCode: fc.option(fc.integer({ min: 200, max: 599 })),
  bytes: fc.nat(),
  textLength: fc.nat(),
  linkCount: fc.nat(),
});
const failed = fc.record({
  ...facts,
  statusCode: fc.option(fc.integer({ min: 200, max: 599 })),
  errorCode: fc.constantFrom<ErrorCode>('DNS_FAILED', 'BODY_TIMEOUT', 'BLOCKED'),
  reason: fc.string({ unit: 'binary' }),
  proxyTier: fc.option(fc.constantFrom('datacenter', 'residential')),
});

describe('property 38: every log line is structured', () => {
  const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

  it('any message and fields make one line of JSON with level, time and the ids', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...levels),
        fc.string({ unit: 'binary' }),
        fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.anything({ withBigInt: false, withDate: false })),
        fc.uuid(),
        (level, message, fields, requestId) => {
          const { logger, lines } = record();
          const { level: _level, time: _time, msg: _msg, ...others } = fields;
          withIds(logger, { requestId })[level](others, '%s', message);
          expect(lines).toHaveLength(1);
          expect(lines[0]?.indexOf('\n')).toBe((lines[0]?.length ?? 0) - 1);
          const entry = JSON.parse(lines[0] ?? '');
          expect(entry).toMatchObject({ level, requestId });
          expect(entry.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
        },
      ),
    );
  });

  it('a completed task is logged at debug with host, duration and what was extracted', () => {
    fc.assert(
      fc.property(completed, (task) => {
        const { logger, lines } = record();
        logCompleted(logger, task);
        const { url, ...others } = task;
        expect(JSON.parse(lines.join(''))).toMatchObject({
          level: 'debug',
          status: 'completed',
          host: new URL(url).host,
          ...others,
        });
      }),
    );
  });

  it('a failed task is logged at debug with URL, proxy, reason and attempts', () => {
    fc.assert(
      fc.property(failed, (task) => {
        const { logger, lines } = record();
        logFailed(logger, task);
        const entry = JSON.parse(lines.join(''));
        const { jobId, taskId, errorCode, proxyTier, attempts, durationMs } = task;
        expect(entry).toMatchObject({
          level: 'debug',
          status: 'failed',
          ...{ jobId, taskId, errorCode, proxyTier, attempts, durationMs },
        });
        expect(entry.url.startsWith(new URL(task.url).origin)).toBe(true);
        expect(entry.reason).toBeTypeOf('string');
      }),
    );
  });

  it('a task that fails for a fault of this installation is a warning, one that a site fails is none', () => {
    const levelOf = (errorCode: ErrorCode) => {
      const { logger, lines } = record();
      const [task] = fc.sample(failed, 1);
      if (task !== undefined) logFailed(logger, { ...task, errorCode });
      return JSON.parse(lines.join('')).level;
    };
    for (const code of ['HTTP_ERROR', 'BLOCKED', 'DNS_FAILED', 'BODY_TIMEOUT'] as const) {
      expect(levelOf(code)).toBe('debug');
    }
    expect(levelOf('STORE_UNAVAILABLE')).toBe('warn');
  });
});

describe('property 39: no credential reaches a log or a metric', () => {
  /** Recognisable at both ends, with characters in between that make it hard to see where a value stops. */
  const secret = fc
    .stringMatching(/^[A-Za-z0-9+/=._~!$*()%;,:?@-]{0,20}$/)
    .map((middle) => `hush${middle}hush`);
  const secretName = fc.constantFrom(
    ...[
      'authorization',
      'Cookie',
      'set-cookie',
      'x-api-key',
      'apiKey',
      'X-Service-Key',
      'password',
      'DB_PASSWORD',
    ],
    ...[
      'token',
      'accessToken',
      'refresh_token',
      'client_secret',
      'sessionId',
      'proxyCredentials',
      'privateKey',
    ],
  );
  /** The end of a value in quotes is always known, whatever the value is. */
  const quotable = fc.tuple(secret, fc.string()).map(([value, other]) => `${value}${other}hush`);
  const parameterName = fc.constantFrom(
    'token',
    'api_key',
    'key',
    'sig',
    'code',
    'password',
    'access_token',
    'email',
  );

  /** A secret in one of the places it turns up in. */
  const carrier: fc.Arbitrary<unknown> = fc.oneof(
    fc.tuple(secretName, quotable).map(([name, value]) => ({ [name]: value })),
    fc.tuple(secretName, quotable).map(([name, value]) => ({ [name]: [value, { more: value }] })),
    secret.map((value) => `Bearer ${value}`),
    secret.map((value) => `Authorization: Basic ${value}`),
    secret.map((value) => `https://user:${encodeURIComponent(value)}@proxy.example:8080/`),
    secret.map((value) => new URL(`https://${encodeURIComponent(value)}@h.example/a?b=c`)),
    fc
      .tuple(parameterName, secret)
      .map(([name, value]) => `https://h.example/p?a=1&${name}=${encodeURIComponent(value)}&z=2#f`),
    fc
      .tuple(parameterName, secret)
      .map(
        ([name, value]) =>
          `to=${encodeURIComponent(`https://h.example/?${name}=${encodeURIComponent(value)}`)}`,
      ),
    fc.tuple(secretName, quotable).map(([name, value]) => JSON.stringify({ [name]: value })),
    secret.map((value) => new Error(`cannot reach https://me:${encodeURIComponent(value)}@h.example`)),
    secret.map((value) => new Map([['password', value]])),
    fc.constant('hush.hush@example.org'),
  );
  const nested = fc.letrec<{ node: unknown }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      carrier,
      fc.array(tie('node'), { maxLength: 3 }),
      fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), tie('node'), { maxKeys: 3 }),
    ),
  })).node;

  it('in fields, messages, errors and bindings of children, at any depth', () => {
    fc.assert(
      fc.property(nested, fc.constantFrom('fields', 'message', 'error', 'child'), (value, place) => {
        const { logger, lines } = record();
        if (place === 'fields') logger.info({ value, err: value, msg: value });
        if (place === 'message') logger.info(typeof value === 'string' ? value : JSON.stringify(value));
        if (place === 'error') logger.error(Object.assign(new Error('failed', { cause: value }), { value }));
        if (place === 'child') logger.child({ value }).child({ deeper: { value } }).info('x');
        expect(lines).toHaveLength(1);
        expect(lines[0]).not.toMatch(/hush/i);
      }),
      { numRuns: 500 },
    );
  });

  it('in the lines about tasks', () => {
    fc.assert(
      fc.property(completed, failed, parameterName, secret, (done, lost, name, value) => {
        const { logger, lines } = record();
        const url = `https://me:${encodeURIComponent(value)}@h.example/?${name}=${encodeURIComponent(value)}`;
        logCompleted(logger, { ...done, url });
        logFailed(logger, { ...lost, url, reason: `GET ${url} failed` });
        expect(lines.join('')).not.toContain('hush');
      }),
    );
  });

  it('in the labels of metrics', async () => {
    await fc.assert(
      fc.asyncProperty(secret, async (value) => {
        const metrics = createMetrics({ withProcess: false, hosts: 20 });
        const url = `https://h.example/?token=${encodeURIComponent(value)}`;
        metrics.httpRequest(url, url, 200, 1);
        metrics.fetched({ engine: url, outcome: url, errorCode: url, ms: 1, bytes: 1 }, url);
        metrics.partFailed('store', url);
        metrics.exportEnded(url, 'ready', 1, 1);
        expect(await metrics.render()).not.toContain('hush');
      }),
      { numRuns: 30 },
    );
  });
});
