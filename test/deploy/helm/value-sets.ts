import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { CHART, type Rendered, renderAll, type Values } from './engine.ts';

/** The sets of values that the checks render: the defaults, every example, and choices that no example makes. */
export function valueSets(): ReadonlyMap<string, Values> {
  const folder = join(CHART, 'examples');
  const examples = readdirSync(folder).map(
    (file) => [file, (parse(readFileSync(join(folder, file), 'utf8')) ?? {}) as Values] as const,
  );
  return new Map<string, Values>([
    ['defaults', {}],
    ...examples,
    [
      'one process on a claim that exists, seen by everyone',
      {
        mode: 'single',
        fullnameOverride: 'crawler',
        persistence: { existingClaim: 'crawler-data' },
        networkPolicy: { enabled: false },
        service: { type: 'LoadBalancer', loadBalancerSourceRanges: ['203.0.113.0/24'] },
        crawls: { site: { schedule: '@daily', request: { urls: ['https://example.com/'] } } },
      },
    ],
    [
      'browsers with profiles of their own',
      {
        security: {
          browserSeccompProfile: { type: 'Localhost', localhostProfile: 'scrapifie/seccomp.json' },
          browserAppArmorProfile: { type: 'Unconfined' },
        },
      },
    ],
    ['browsers without a sandbox, by consent', { security: { unconfinedBrowsers: true } }],
    [
      'one image for all roles, own ServiceAccount, pinned',
      {
        image: { slimSuffix: '', digest: `sha256:${'a'.repeat(64)}`, pullSecrets: ['registry'] },
        serviceAccount: { create: false, name: 'crawler' },
        secrets: {
          settings: ['SCRAPIFIE_LLM_KEY'],
          values: { SCRAPIFIE_LLM_KEY: 'a-key', SCRAPIFIE_DATABASE_URL: 'postgres://a:b@db:5432/c' },
        },
        postgresql: { bundled: false },
        settings: {
          SCRAPIFIE_LLM_URL: 'https://llm.example/v1',
          SCRAPIFIE_LLM_MODEL: 'm',
          SCRAPIFIE_SPILL_BYTES: 10737418240,
        },
        commonLabels: { team: 'data' },
        extraEnvironment: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/etc/ssl/own.pem' }],
        roles: {
          api: {
            podAnnotations: { note: 'a' },
            podLabels: { tier: 'front' },
            tolerations: [{ operator: 'Exists' }],
          },
          'http-worker': {
            settings: { SCRAPIFIE_MAX_HOSTS: 512, SCRAPIFIE_MAX_CONCURRENCY: 512 },
            maxUnavailable: 0,
          },
          'browser-worker': {
            affinity: { nodeAffinity: {} },
            priorityClassName: 'low',
          },
        },
      },
    ],
  ]);
}

/** The sets as they are rendered. Throws when one is refused. */
export function renderedSets(): ReadonlyMap<string, Rendered> {
  const sets = valueSets();
  const rendered = renderAll([...sets.values()]);
  return new Map(
    [...sets.keys()].map((name, at) => {
      const result = rendered[at];
      if (result === undefined || result instanceof Error) throw new Error(`${name}: ${result?.message}`);
      return [name, result];
    }),
  );
}
