import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readQuery } from '../promql.ts';
import { CHART, canRender, type Manifest, type Rendered, render } from './engine.ts';
import { renderedSets } from './value-sets.ts';

/** The metrics of the program, as its sources name them. */
function metricNames(): ReadonlySet<string> {
  const folder = join(CHART, '../../../src/core/observe');
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
  );
  return new Set(
    sources.flatMap((file) => readFileSync(join(folder, file), 'utf8').match(/\bscrapifie_[a-z_]+/g) ?? []),
  );
}

describe.runIf(canRender())('the chart and Prometheus', () => {
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

  it('scales by signals whose metrics exist, alike with prometheus-adapter and with KEDA', () => {
    const known = metricNames();
    const used: string[] = [];
    const rules = parse(find('production.yaml', 'ConfigMap', 'scrapifie-adapter-rules').data['config.yaml']);
    const offered = new Map<string, string>(
      rules.externalRules.map((rule: { name: { as: string }; metricsQuery: string; seriesQuery: string }) => {
        used.push(rule.metricsQuery, rule.seriesQuery);
        return [rule.name.as, rule.metricsQuery];
      }),
    );
    const wanted = manifestsOf('production.yaml')
      .filter(({ kind }) => kind === 'HorizontalPodAutoscaler')
      .flatMap(({ spec }) => spec.metrics.flatMap(({ external }: Manifest) => external?.metric.name ?? []));
    expect(wanted.toSorted()).toEqual([...offered.keys()].toSorted());
    const queries: string[] = manifestsOf('keda.yaml')
      .filter(({ kind }) => kind === 'ScaledObject')
      .flatMap(({ spec }) =>
        spec.triggers.flatMap(
          ({ metadata }: Manifest) => (metadata as unknown as { query?: string }).query ?? [],
        ),
      );
    expect(queries.toSorted()).toEqual([...offered.values()].toSorted());
    expect(queries.map((query) => readQuery(query).problem).filter((problem) => problem !== null)).toEqual(
      [],
    );
    const named = used.flatMap((text) => text.match(/\bscrapifie_[a-z_]+/g) ?? []);
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((name) => !known.has(name.replace(/_(?:bucket|sum|count)$/, '')))).toEqual([]);
  });

  it('scales as the plan of the platform says: limits, steps, triggers, pauses', () => {
    const autoscaler = (role: string) =>
      find('production.yaml', 'HorizontalPodAutoscaler', `scrapifie-${role}`).spec;
    expect(
      ['api', 'http-worker', 'browser-worker', 'stealth-worker'].map((role) => {
        const { minReplicas, maxReplicas, behavior } = autoscaler(role);
        return [minReplicas, maxReplicas, behavior.scaleUp.policies[0].value];
      }),
    ).toEqual([
      [3, 10, 1],
      [10, 100, 10],
      [5, 50, 5],
      [2, 10, 2],
    ]);
    const { behavior, metrics } = autoscaler('http-worker');
    expect(behavior.scaleUp.policies[0].periodSeconds).toBe(300);
    expect(behavior.scaleDown).toMatchObject({
      stabilizationWindowSeconds: 600,
      policies: [{ periodSeconds: 300 }],
    });
    expect(metrics[0].resource).toEqual({
      name: 'cpu',
      target: { type: 'Utilization', averageUtilization: 80 },
    });
    expect(metrics.slice(1).map(({ external }: Manifest) => external.target.value)).toEqual(['1000', '0.9']);
  });

  it('gives every series the name of its installation', () => {
    const { endpoints } = find('production.yaml', 'ServiceMonitor', 'scrapifie').spec;
    expect(endpoints[0].relabelings).toEqual([
      { targetLabel: 'installation', replacement: expect.stringMatching(/^[^/]+\/scrapifie$/) },
    ]);
  });

  it('brings the rules and dashboards of the project as they are', () => {
    for (const name of ['alerts', 'recording']) {
      const rules = readFileSync(join(CHART, `../../prometheus/${name}.yml`), 'utf8');
      expect(find('production.yaml', 'PrometheusRule', `scrapifie-${name}`).spec).toEqual(parse(rules));
    }
    const files = readdirSync(join(CHART, '../../grafana/dashboards'));
    for (const file of files) {
      const text = find('production.yaml', 'ConfigMap', `scrapifie-dashboard-${file.replace('.json', '')}`)
        .data[file];
      expect(JSON.parse(text)).toEqual(
        JSON.parse(readFileSync(join(CHART, '../../grafana/dashboards', file), 'utf8')),
      );
    }
    expect(files.length).toBeGreaterThan(3);
  });

  it('takes workers that fetch to zero with KEDA, and back as soon as a host waits', () => {
    const values = {
      autoscaling: { engine: 'keda', prometheusUrl: 'http://prometheus:9090' },
      roles: { 'http-worker': { autoscaling: { enabled: true, minReplicas: 0, maxReplicas: 4 } } },
    };
    const scaled = render(values).manifests.find(({ kind }) => kind === 'ScaledObject');
    expect(scaled?.spec.minReplicaCount).toBe(0);
    const waiting = scaled?.spec.triggers.find(({ name }: { name: string }) => name === 'queue_depth');
    expect(waiting.metadata).toMatchObject({ threshold: '1000', activationThreshold: '0' });
  });
});
