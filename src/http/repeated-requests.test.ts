import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DONE, openPlatform, type Platform } from '../../test/property/api-platform.ts';

/** POSTs that make nothing new, or nothing that could be there twice. */
const NOT_CREATING: Readonly<Record<string, string>> = {
  '/v1/extract': 'stores nothing',
  '/v1/jobs/{id}/reextract': 'stores nothing',
  '/v1/estimate': 'it only reckons',
  '/v1/domains/{host}/robots-test': 'it only reads',
  '/v1/system/doctor': 'it only looks',
  '/v1/jobs/{id}/cancel': 'a job is cancelled once',
  '/v1/jobs/{id}/resume': 'refused while the job goes on',
  '/v1/jobs/{id}/retry': 'refused when nothing has failed',
  '/v1/sessions/{name}/login': 'logs the same session in again',
  '/v1/domains/{host}/opt-out': 'there is one for each host',
  '/v1/owner-requests': 'has no account: whoever owns the site proves it anew',
  '/v1/owner-requests/{id}/check': 'looks again',
  '/v1/keys/{id}/rotate': 'earlier secrets stay valid for the overlap',
  '/v1/accounts/{id}/credits': 'the entry has the key itself, for good',
  '/v1/accounts/{id}/disable': 'there is one state',
  '/v1/accounts/{id}/enable': 'there is one state',
  '/v1/schedules/preview': 'stores nothing',
  '/v1/schedules/{id}/pause': 'there is one state',
  '/v1/schedules/{id}/resume': 'there is one state',
  '/v1/query': 'it only reads',
  '/v1/monitors/preview': 'it stores nothing',
  '/v1/monitors/{id}/pause': 'there is one state',
  '/v1/monitors/{id}/resume': 'there is one state',
  '/v1/webhooks/{id}/rotate': 'the former secret stays valid for the overlap',
};

interface Operation {
  readonly parameters?: readonly { readonly $ref?: string }[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly example?: object; readonly examples?: object }>>;
  };
}

let platform: Platform;
let posts: readonly (readonly [path: string, operation: Operation])[];
beforeAll(async () => {
  platform = await openPlatform();
  await platform.work(() => DONE);
  const document = await platform.call({ url: '/openapi.json' });
  const paths = document.at('paths') as Record<string, { readonly post?: Operation }>;
  posts = Object.entries(paths).flatMap(([path, { post }]) => (post === undefined ? [] : [[path, post]]));
});
afterAll(() => platform.close());

const takesKey = ([, { parameters = [] }]: (typeof posts)[number]) =>
  parameters.some(({ $ref }) => $ref === '#/components/parameters/IdempotencyKey');

const exampleOf = ({ requestBody }: Operation): object =>
  requestBody?.content['application/json']?.example ?? {};

describe('every POST', () => {
  it('takes an Idempotency-Key, or is known to create nothing', () => {
    const without = posts.filter((post) => !takesKey(post)).map(([path]) => path);
    expect(without.filter((path) => !(path in NOT_CREATING))).toEqual([]);
    expect(posts.filter((post) => takesKey(post)).map(([path]) => path)).not.toEqual([]);
  });

  it('that creates something does so once, and repeats its answer byte for byte', async () => {
    const creating = posts.filter((post) => takesKey(post) && !post[0].includes('{'));
    for (const [url, operation] of creating) {
      const send = (key: string, payload = exampleOf(operation)) =>
        platform.call({
          method: 'POST',
          url,
          payload,
          headers: { 'idempotency-key': `${key} ${url}`.replaceAll(' ', '-') },
        });
      const first = await send('first');
      expect([200, 201, 202], `${url} ${first.payload}`).toContain(first.statusCode);
      const racing = await Promise.all([send('first'), send('first'), send('first')]);
      for (const again of racing) {
        expect([url, again.statusCode, again.payload]).toEqual([url, first.statusCode, first.payload]);
        expect([url, again.headers['idempotency-replayed']]).toEqual([url, 'true']);
        for (const name of ['location', 'content-type']) {
          expect([url, again.headers[name]]).toEqual([url, first.headers[name]]);
        }
      }
    }
  }, 60_000);
});
