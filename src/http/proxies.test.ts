import Fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { parseProxyFile } from '../crawl/plan/proxies/proxy-file.ts';
import { ProxyPool } from '../crawl/plan/proxies/proxy-pool.ts';
import { addProxyRoutes } from './routes/proxies.ts';
import type { RouteDeps } from './routes/route-deps.ts';
import type { App } from './server/app.ts';

async function ask(source: Pick<RouteDeps, 'proxyFigures'>): Promise<string> {
  const app = Fastify();
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => (answer) => JSON.stringify(answer));
  onTestFinished(() => app.close());
  addProxyRoutes(app as unknown as App, source as RouteDeps);
  return (await app.inject('/v1/proxies')).body;
}

test('an installation without proxies says so', async () => {
  const none = { success: true, data: { isSetUp: false, proxies: [], providers: [], tiers: [] } };
  expect(JSON.parse(await ask({}))).toEqual(none);
  expect(JSON.parse(await ask({ proxyFigures: () => null }))).toEqual(none);
});

test('figures name each proxy and provider, and neither hosts nor logins', async () => {
  const file = parseProxyFile(
    'providers:\n  - kind: list\n    name: mine\n    tier: datacenter\n    proxies:\n      - http://ann:hunter2@proxy.secret.example:8080\n',
  );
  const pool = new ProxyPool(file, () => 0.5);
  const text = await ask({ proxyFigures: () => pool.figures(0) });
  expect(JSON.parse(text).data).toMatchObject({
    isSetUp: true,
    proxies: [{ provider: 'mine', tier: 'datacenter', isHealthy: true, requests: 0, p50Ms: null }],
    providers: [{ name: 'mine', breaker: 'closed', proxies: 1, healthy: 1 }],
  });
  for (const secret of ['ann', 'hunter2', 'secret.example']) expect(text).not.toContain(secret);
});
