import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AccountId } from '../../src/core/model/ids.ts';
import type { PageRecord } from '../../src/core/model/page.ts';
import type { KeyScope } from '../../src/core/ports/key-store.ts';
import { type Operation, operationsOf, pathWith } from '../openapi/operations.ts';
import { DONE, hashOf, openPlatform, type Platform } from '../property/api-platform.ts';
import {
  ENDLESS,
  MAKERS,
  type Made,
  makerOf,
  NAMED_BY_CALLER,
  OPEN_OPERATIONS,
  REQUESTS,
} from './resources.ts';
import { createTenant, keyOf, type Tenant, tenantOf } from './tenants.ts';

/** Written out here, so that a mistake in the table of the program shows. */
const WORK = ['scrape', 'jobs:read', 'jobs:write', 'exports', 'schedules', 'webhooks'];
const GRANTS: Readonly<Record<KeyScope, readonly string[]>> = {
  scrape: ['scrape'],
  'jobs:read': ['jobs:read'],
  'jobs:write': ['jobs:write'],
  exports: ['exports'],
  schedules: ['schedules'],
  webhooks: ['webhooks'],
  read: ['read', 'jobs:read'],
  write: ['write', 'read', ...WORK],
  credentials: ['credentials'],
  'credentials:read': ['credentials:read', 'credentials'],
  admin: ['admin', 'write', 'read', 'credentials', ...WORK],
};
const OF_THE_OPERATOR = ['operator', 'installation', 'metrics'];

const PICTURE = Buffer.from('\x89PNG picture');
const RECORD: PageRecord = {
  rendered: {
    screenshot: { contentHash: hashOf(PICTURE), contentType: 'image/png', bytes: PICTURE.byteLength },
  },
  metadata: null,
  links: [],
  html: '<p>canary</p>',
};

const platform: Platform = await openPlatform();
await platform.work(() => ({ ...DONE, record: RECORD, artifacts: [PICTURE] }));
const operations = operationsOf((await platform.api.inject({ url: '/openapi.json' })).json());
let owner: Tenant;
let stranger: Tenant;
const made = new Map<string, Made>();

const hasParameters = ({ path }: Operation) => path.includes('{');
const isOpen = ({ access }: Operation) => access.length === 0;

function requestOf(operation: Operation, values: Readonly<Record<string, string>>): InjectOptions {
  const { query, body } = REQUESTS[operation.name] ?? {};
  const path = pathWith(operation.path, values);
  const payload = body ?? operation.examples[0];
  const hasBody = operation.method !== 'GET' && payload !== undefined && payload !== null;
  return {
    method: operation.method,
    url: query === undefined ? path : `${path}?${pathWith(query, values)}`,
    ...(hasBody ? { payload: payload as object } : {}),
  };
}

async function ask(
  operation: Operation,
  secret: string | null,
  values: Readonly<Record<string, string>> = {},
) {
  const headers = secret === null ? {} : { 'x-api-key': secret };
  return platform.api.inject({ ...requestOf(operation, values), headers });
}

beforeAll(async () => {
  owner = await createTenant(platform, 'owner');
  stranger = await createTenant(platform, 'stranger');
  for (const [path, maker] of Object.entries(MAKERS)) made.set(path, await maker.make(owner));
});
afterAll(() => platform.close());

describe('every operation', () => {
  it('that needs no key is known to be open', () => {
    const open = operations.filter(isOpen).map(({ name }) => name);
    expect(new Set(open), 'list open operations in test/isolation/resources.ts').toEqual(OPEN_OPERATIONS);
  });

  it('with a parameter in its path has a resource to be tried with', () => {
    const without = operations.filter(
      (each) => !isOpen(each) && hasParameters(each) && makerOf(each.path) === null,
    );
    expect(
      without.map(({ path }) => path),
      'add a maker to MAKERS in test/isolation/resources.ts',
    ).toEqual([]);
  });
});

describe.each(operations.filter((each) => !isOpen(each)))('$name', (operation) => {
  const valuesOf = (which: 'own' | 'missing') => {
    const maker = hasParameters(operation) ? makerOf(operation.path) : null;
    return (maker === null ? undefined : made.get(maker)?.[which]) ?? {};
  };

  it('refuses no key, and keys that are garbage, expired or revoked', async () => {
    const expired = await keyOf(platform, owner.account, ['admin'], { expiresAt: 1 });
    const revoked = await keyOf(platform, owner.account, ['admin'], { isRevoked: true });
    for (const secret of [null, 'sk_garbage', `${owner.secret}x`, expired, revoked]) {
      const answer = await ask(operation, secret, valuesOf('own'));
      expect([answer.statusCode, answer.json().error.code]).toEqual([401, 'UNAUTHENTICATED']);
    }
  });

  it('refuses keys of a disabled account', async () => {
    const id = `disabled-${operations.indexOf(operation)}` as AccountId;
    const tenant = await createTenant(platform, id);
    await platform.call({ method: 'POST', url: `/v1/accounts/${id}/disable` });
    const answer = await ask(operation, tenant.secret, valuesOf('own'));
    expect([answer.statusCode, answer.json().error.code]).toEqual([403, 'ACCOUNT_DISABLED']);
  });

  it('refuses each key without its scope', async () => {
    const isAnyKey = operation.access.includes('key');
    const isOfOperator = operation.access.some((name) => OF_THE_OPERATOR.includes(name));
    for (const [scope, grants] of Object.entries(GRANTS) as [KeyScope, readonly string[]][]) {
      const isGranted = !isOfOperator && operation.access.some((name) => grants.includes(name));
      if (isAnyKey || isGranted) continue;
      const secret = await keyOf(platform, owner.account, [scope]);
      const answer = await ask(operation, secret, valuesOf('own'));
      expect([scope, answer.statusCode, answer.json().error.code]).toEqual([scope, 403, 'FORBIDDEN']);
    }
    if (isAnyKey) return;
    // In the account of the operator the scope is needed as well.
    const needed = isOfOperator
      ? operation.access.includes('operator')
        ? ['admin']
        : ['jobs:read']
      : operation.access;
    const others = (Object.keys(GRANTS) as KeyScope[]).filter(
      (scope) => !GRANTS[scope].some((name) => needed.includes(name)),
    );
    const secret = await keyOf(platform, await platform.store.defaultAccount(), others);
    expect((await ask(operation, secret, valuesOf('own'))).statusCode).toBe(403);
  });

  if (hasParameters(operation))
    it('answers for what is another account’s as for what is not there', async () => {
      const operator = await tenantOf(platform, await platform.store.defaultAccount(), [
        'admin',
        'credentials:read',
      ]);
      const isOfOperator = operation.access.some((name) => OF_THE_OPERATOR.includes(name));
      for (const { secret } of isOfOperator ? [stranger] : [stranger, operator]) {
        const [foreign, missing] = [
          await ask(operation, secret, valuesOf('own')),
          await ask(operation, secret, valuesOf('missing')),
        ];
        const shown = [plain(foreign, valuesOf('own')), plain(missing, valuesOf('missing'))];
        expect(shown[0]).toEqual(shown[1]);
        if (!NAMED_BY_CALLER.has(operation.name)) {
          const what = `${foreign.statusCode} ${foreign.payload}`;
          expect([403, 404], `${what}\nif the request is not valid, give one in REQUESTS`).toContain(
            foreign.statusCode,
          );
        }
      }
    });

  if (operation.method === 'GET')
    it('gives the owner what is the owner’s, and shows it to nobody else', async () => {
      const isOfOperator = operation.access.some((name) => OF_THE_OPERATOR.includes(name));
      if (ENDLESS.has(operation.name)) return showsOwnOnly(operation);
      const mine = await ask(operation, isOfOperator ? platform.secret : owner.secret, valuesOf('own'));
      expect([mine.statusCode, mine.statusCode === 200 ? '' : mine.payload]).toEqual([200, '']);
      if (isOfOperator || hasParameters(operation)) return;
      const theirs = (await ask(operation, stranger.secret)).payload;
      for (const { own, canaries = [] } of made.values()) {
        for (const text of [...Object.values(own).filter((each) => each.length > 6), ...canaries]) {
          expect(theirs).not.toContain(text);
        }
      }
    });
});

/** Reads a stream without an end from its beginning until the last event of the account has come. */
async function showsOwnOnly(operation: Operation): Promise<void> {
  for (const tenant of [owner, stranger]) {
    const job = await tenant.post('/v1/batch', { urls: ['https://last.example/'] });
    const last = String(job.at('data.id'));
    const answer = await platform.api.inject({
      url: `${operation.path}?after=0-0-0`,
      headers: { 'x-api-key': tenant.secret },
      payloadAsStream: true,
    });
    expect(answer.statusCode).toBe(200);
    let text = '';
    for await (const chunk of answer.stream()) {
      text += String(chunk);
      if (text.includes(last)) break;
    }
    expect(text).toContain(last);
    if (tenant === stranger) expect(text).not.toContain(made.get('/v1/jobs/{id}')?.own.id);
  }
}

type Injected = Awaited<ReturnType<typeof ask>>;

/** The answer without what differs between any two answers; the ids that were asked for are repeated in some of them. */
function plain(answer: Injected, values: Readonly<Record<string, string>>) {
  const {
    'x-request-id': requestId,
    date: _date,
    'content-length': _length,
    'ratelimit-remaining': _remaining,
    'ratelimit-reset': _reset,
    ...headers
  } = answer.headers;
  let text = answer.payload.replaceAll(String(requestId), '{request}');
  for (const [name, value] of Object.entries(values)) text = text.replaceAll(value, `{${name}}`);
  return { status: answer.statusCode, headers, text: text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '{time}') };
}
