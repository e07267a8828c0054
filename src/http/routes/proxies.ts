import { z } from 'zod';
import { PROXY_TIERS } from '../../core/model/proxy.ts';
import type { App } from '../server/app.ts';
import { answers, success } from '../server/envelope.ts';
import type { RouteDeps } from './route-deps.ts';

const figures = {
  requests: z.number().int().describe('The sum of the four that follow.'),
  successes: z.number().int(),
  failures: z.number().int().describe('Not served, by the fault of the proxy or perhaps so.'),
  bans: z.number().int().describe('Refused by the target because of where the request came from.'),
  targetFailures: z.number().int().describe('Not served by the fault of the target.'),
  bytes: z.number().int(),
  p50Ms: z.number().nullable().describe('Median of the latest successes.'),
};
const tier = z.enum(PROXY_TIERS);

const poolSchema = z
  .object({
    isSetUp: z.boolean().describe('Whether any process that was heard of uses proxies.'),
    proxies: z.array(
      z.object({
        id: z.string(),
        provider: z.string(),
        tier,
        country: z.string().nullable(),
        isHealthy: z.boolean(),
        ...figures,
      }),
    ),
    providers: z.array(
      z.object({
        name: z.string(),
        tier,
        breaker: z.enum(['closed', 'open', 'half-open']),
        proxies: z.number().int(),
        healthy: z.number().int(),
        ...figures,
      }),
    ),
    tiers: z.array(z.object({ tier, ...figures })),
  })
  .meta({ id: 'Proxies' });

const NO_PROXIES = { isSetUp: false, proxies: [], providers: [], tiers: [] };

export function addProxyRoutes(app: App, { proxyFigures }: RouteDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/proxies',
    config: { access: 'installation' },
    schema: {
      tags: ['proxies'],
      summary: 'Proxies, providers and tiers: health, breakers and statistics of all processes',
      description:
        'Since the start of each process; those of other processes are some seconds old. Hosts and logins of proxies are not shown.',
      querystring: z.strictObject({}),
      response: answers({ 200: poolSchema }),
    },
    async handler() {
      const pool = proxyFigures?.() ?? null;
      return success(pool === null ? NO_PROXIES : { isSetUp: true, ...pool });
    },
  });
}
