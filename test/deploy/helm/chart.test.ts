import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { crawlRequestSchema } from '../../../src/capabilities/jobs/request/job-request.ts';
import { environmentName, settingNames, settingsSchema } from '../../../src/core/config/settings.ts';
import { parsePolicyFile } from '../../../src/crawl/policy/policy-file.ts';
import {
  CHART,
  canRender,
  type Manifest,
  type Rendered,
  readManifests,
  render,
  renderAll,
  type Values,
} from './engine.ts';
import { schemaProblems } from './kubernetes-schemas.ts';
import { danglingReferences, podsOf } from './references.ts';
import { renderedSets, valueSets } from './value-sets.ts';

const SETS = valueSets();
const read = (file: string): string => readFileSync(join(CHART, file), 'utf8');

/** The Secret that operators copy for sets that name one of their own. */
const [SAMPLE_SECRET] = readManifests(read('../sample-secret.yaml'), 'sample-secret.yaml');

/** What the operator of a set has to have: named by its values, and in docs/kubernetes.md. */
const DECLARED: Readonly<Record<string, readonly string[]>> = {
  'gateway.yaml': ['ClusterSecretStore/vault', 'Secret/scrapifie-proxies'],
  'one process on a claim that exists, seen by everyone': ['PersistentVolumeClaim/crawler-data'],
  'one image for all roles, own ServiceAccount, pinned': [
    'ServiceAccount/crawler',
    'Secret/registry',
    'PriorityClass/low',
  ],
};

describe.runIf(canRender())('the chart', () => {
  let sets: ReadonlyMap<string, Rendered>;
  const manifestsOf = (name: string) => sets.get(name)?.manifests ?? [];
  const find = (name: string, kind: string, object: string): Manifest => {
    const found = manifestsOf(name).find((each) => each.kind === kind && each.metadata.name === object);
    if (found === undefined) throw new Error(`${name} has no ${kind}/${object}`);
    return found;
  };
  beforeAll(() => {
    sets = renderedSets();
  });

  it.each([...SETS.keys()])('with %s gives objects that the schemas of Kubernetes accept', async (name) => {
    const problems = await Promise.all(manifestsOf(name).map(schemaProblems));
    expect(problems.flat()).toEqual([]);
    expect(manifestsOf(name).length).toBeGreaterThan(5);
  });

  it.each([...SETS.keys()])('with %s names only objects, keys, ports and labels that exist', (name) => {
    const all = [...manifestsOf(name), ...(SAMPLE_SECRET === undefined ? [] : [SAMPLE_SECRET])];
    expect(danglingReferences(all, new Set(DECLARED[name] ?? []))).toEqual([]);
    const names = manifestsOf(name).map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    expect(names.filter((each, at) => names.indexOf(each) !== at)).toEqual([]);
  });

  it('runs every container without root, without rights to gain, and on a read-only root', () => {
    for (const name of SETS.keys()) {
      for (const { owner, spec } of podsOf(manifestsOf(name))) {
        expect([owner, spec.securityContext]).toMatchObject([
          owner,
          { runAsNonRoot: true, seccompProfile: {} },
        ]);
        expect([owner, spec.automountServiceAccountToken, spec.enableServiceLinks]).toEqual([
          owner,
          false,
          false,
        ]);
        for (const { securityContext, resources } of spec.containers) {
          // Profiles of containers with a browser; see below.
          const { seccompProfile: _, appArmorProfile: __, ...rights } = securityContext;
          expect([owner, rights]).toEqual([
            owner,
            {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ['ALL'] },
            },
          ]);
          expect([owner, resources.limits.memory, resources.requests.memory]).not.toContain(undefined);
        }
      }
    }
  });

  it('gives profiles for browsers, and consent to go without, to containers with a browser and to no other', () => {
    const containersOf = (name: string) =>
      podsOf(manifestsOf(name)).flatMap(({ spec }) =>
        spec.containers.map(
          ({
            securityContext,
            env = [],
          }: {
            securityContext: object;
            env?: { name: string; value?: string }[];
          }) => ({
            role: env.find((variable) => variable.name === 'SCRAPIFIE_ROLE')?.value ?? '',
            profiles: Object.keys(securityContext)
              .filter((key) => key.endsWith('Profile'))
              .sort(),
            hasConsent: env.some(
              (variable) => variable.name === 'SCRAPIFIE_UNCONFINED_BROWSERS' && variable.value === 'true',
            ),
          }),
        ),
      );
    const hasBrowser = (role: string) => ['all', 'browser-worker', 'stealth-worker'].includes(role);
    const own = containersOf('browsers with profiles of their own');
    expect(own.filter(({ role }) => hasBrowser(role)).length).toBeGreaterThan(0);
    for (const { role, profiles, hasConsent } of own) {
      const expected = hasBrowser(role) ? ['appArmorProfile', 'seccompProfile'] : [];
      expect([role, profiles, hasConsent]).toEqual([role, expected, false]);
    }
    for (const { role, profiles, hasConsent } of containersOf('browsers without a sandbox, by consent'))
      expect([role, profiles, hasConsent]).toEqual([role, [], hasBrowser(role)]);
    expect(containersOf('defaults').filter(({ hasConsent }) => hasConsent)).toEqual([]);
  });

  it('lets nothing but the internet, DNS and named servers be reached, and no private range by the internet', () => {
    for (const name of SETS.keys()) {
      for (const { spec } of manifestsOf(name).filter(({ kind }) => kind === 'NetworkPolicy')) {
        for (const { to } of spec.egress ?? []) {
          for (const { ipBlock } of to.filter((peer: object) => 'ipBlock' in peer)) {
            if (!ipBlock.cidr.endsWith('/0')) continue;
            const privateRanges =
              ipBlock.cidr === '::/0'
                ? ['fc00::/7', 'fe80::/10', '::1/128']
                : [
                    '10.0.0.0/8',
                    '172.16.0.0/12',
                    '192.168.0.0/16',
                    '169.254.0.0/16',
                    '127.0.0.0/8',
                    '100.64.0.0/10',
                  ];
            expect(ipBlock.except).toEqual(expect.arrayContaining(privateRanges));
          }
        }
      }
    }
    const policies = manifestsOf('defaults').filter(({ kind }) => kind === 'NetworkPolicy');
    expect(policies.map(({ metadata }) => metadata.name)).toHaveLength(9);
  });

  it('gives an API time for its pause, its notice, its drain and its end, and replaces no pod before a new one is ready', () => {
    const ending = (role: string) => {
      const { spec } = find('defaults', 'Deployment', `scrapifie-${role}`).spec.template;
      const [{ lifecycle, env }] = spec.containers;
      const ms = (name: string) =>
        Number(env.find((each: { name: string }) => each.name === name)?.value ?? 0);
      const notice = ms('SCRAPIFIE_DRAIN_NOTICE_MS');
      return [
        lifecycle?.preStop.sleep.seconds,
        notice,
        ms('SCRAPIFIE_DRAIN_MS'),
        spec.terminationGracePeriodSeconds,
      ];
    };
    expect(ending('api')).toEqual([5, 10_000, 30_000, 55]);
    expect(ending('http-worker')).toEqual([undefined, 0, 30_000, 40]);
    // Readiness is asked at least once within the notice.
    const { spec } = find('defaults', 'Deployment', 'scrapifie-api').spec.template;
    expect(spec.containers[0].readinessProbe.periodSeconds).toBeLessThanOrEqual(10);
    for (const { kind, spec } of manifestsOf('defaults')) {
      if (kind === 'Deployment' && spec.strategy.type === 'RollingUpdate') {
        expect(spec.strategy.rollingUpdate.maxUnavailable).toBe(0);
      }
    }
  });

  it('replaces no pod because of a new version of the chart alone', () => {
    for (const { owner, labels } of podsOf(manifestsOf('defaults'))) {
      if (!owner.startsWith('Pod/'))
        expect([owner, Object.keys(labels)]).not.toEqual([owner, expect.arrayContaining(['helm.sh/chart'])]);
    }
  });

  it('keeps what an earlier release has made up, and makes up what a server accepts', () => {
    const secret = ({ manifests }: Rendered) => manifests.find(({ kind }) => kind === 'Secret')?.data;
    const first = secret(render({}));
    const plain = (key: string) => Buffer.from(first[key], 'base64').toString();
    expect(settingsSchema.shape.vaultKey.safeParse(plain('SCRAPIFIE_VAULT_KEY')).success).toBe(true);
    expect(settingsSchema.shape.apiKey.safeParse(plain('SCRAPIFIE_API_KEY')).success).toBe(true);
    expect(plain('POSTGRES_PASSWORD')).toMatch(/^[A-Za-z0-9]{40}$/);
    const cluster = { 'Secret/scrapifie-secrets': { data: first } };
    expect(secret(render({}, { cluster }))).toEqual(first);
    expect(secret(render({}))).not.toEqual(first);
  });

  it('comes with a sample of its Secret, which the program refuses until its values are replaced', async () => {
    if (SAMPLE_SECRET === undefined) throw new Error('there is no sample');
    expect(await schemaProblems(SAMPLE_SECRET)).toEqual([]);
    for (const [variable, value] of Object.entries(SAMPLE_SECRET.stringData)) {
      const setting = settingNames.find((name) => environmentName(name) === variable);
      if (setting !== undefined)
        expect([variable, settingsSchema.shape[setting].safeParse(value).success]).toEqual([variable, false]);
    }
  });

  it('starts crawls with requests that the API accepts, and mounts policies that the program reads', () => {
    const { data } = find('gateway.yaml', 'ConfigMap', 'scrapifie-crawls');
    expect(crawlRequestSchema.parse(JSON.parse(data['shop.json'])).maxPages).toBe(1_000);
    expect(data['start-crawl.mjs']).toBe(read('files/start-crawl.mjs'));
    const policy = find('gateway.yaml', 'ConfigMap', 'scrapifie-policy').data['policy.yaml'];
    expect(parsePolicyFile(policy, 'policy.yaml').domains.get('shop.example')).toMatchObject({
      ratePerSecond: 1,
    });
  });

  it('tells how to reach what was installed, for each set', () => {
    expect(sets.get('defaults')?.notes).toContain('port-forward service/scrapifie-api 3000:80');
    expect(sets.get('single.yaml')?.notes).toContain('rollout status statefulset/scrapifie');
    expect(sets.get('production.yaml')?.notes).toContain('https://scrapifie.example.com');
    for (const [name, { notes }] of sets) expect([name, notes]).not.toContain('<no value>');
  });

  it.each<[string, Values, RegExp]>([
    [
      'a server without an address',
      { redis: { bundled: false } },
      /redis.bundled is false.*SCRAPIFIE_REDIS_URL/,
    ],
    ['no name of the Secret', { secrets: { source: 'existing' } }, /secrets.name must name your Secret/],
    ['no ServiceAccount', { serviceAccount: { create: false } }, /serviceAccount.name must name/],
    [
      'no entry of the store',
      { secrets: { source: 'external-secrets', externalSecrets: { store: { name: 'a' } } } },
      /remoteKey/,
    ],
    [
      'KEDA without Prometheus',
      { autoscaling: { engine: 'keda' }, roles: { api: { autoscaling: { enabled: true } } } },
      /prometheusUrl/,
    ],
    [
      'zero replicas',
      { roles: { 'http-worker': { autoscaling: { enabled: true, minReplicas: 0, maxReplicas: 2 } } } },
      /only KEDA/,
    ],
    [
      'zero render workers',
      {
        autoscaling: { engine: 'keda' },
        roles: { 'browser-worker': { autoscaling: { enabled: true, minReplicas: 0, maxReplicas: 2 } } },
      },
      /only http-worker can be scaled to zero/,
    ],
    [
      'more pods than connections',
      { roles: { 'http-worker': { autoscaling: { enabled: true } } } },
      /maxConnections is 300, and the pods may open 1908/,
    ],
  ])('refuses %s, and says what to do', (_, values, problem) => {
    expect(String(renderAll([values])[0])).toMatch(problem);
  });

  it('gives names that Kubernetes takes, however long the release and its crawls are called', () => {
    const crawls = Object.fromEntries(
      ['a', 'b'].map((end) => [`${'x'.repeat(19)}${end}`, { schedule: '@daily', request: {} }]),
    );
    const values = { crawls, cleanup: { enabled: true }, metrics: { serviceMonitor: { enabled: true } } };
    const { manifests } = render(values, { release: 'r'.repeat(53) });
    const names = manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    // Kubernetes adds a time to the names of Jobs, and a hash to those of StatefulSets.
    const longest: Readonly<Record<string, number>> = { CronJob: 52, StatefulSet: 52 };
    for (const { kind, metadata } of manifests) {
      expect(metadata.name).toMatch(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/);
      expect([kind, metadata.name.length <= (longest[kind] ?? 63)]).toEqual([kind, true]);
    }
  });

  it('loses a default that the values set to null', () => {
    const ingress = ({ manifests }: Rendered) =>
      manifests.find(
        ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'scrapifie-scheduler',
      )?.spec.ingress;
    expect(ingress(render({}))).toHaveLength(1);
    expect(ingress(render({ networkPolicy: { prometheus: null } }))).toBeUndefined();
  });

  it('refuses a Kubernetes that is too old', () => {
    expect(String(renderAll([{}], { kubeVersion: '1.29.4' })[0])).toMatch(/requires kubeVersion: >=1.30/);
  });
});
