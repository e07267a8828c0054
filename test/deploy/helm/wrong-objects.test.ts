import { beforeAll, describe, expect, it } from 'vitest';
import { canRender, type Manifest, render } from './engine.ts';
import { schemaProblems } from './kubernetes-schemas.ts';
import { danglingReferences } from './references.ts';

describe.runIf(canRender())('an object that is wrong', () => {
  let manifests: readonly Manifest[];
  beforeAll(() => {
    ({ manifests } = render({ metrics: { serviceMonitor: { enabled: true } } }));
  });
  /** The object with one change, as text would have it. */
  const changed = (kind: string, name: string, from: string, to: string): Manifest => {
    const found = manifests.find((each) => each.kind === kind && each.metadata.name === name);
    const text = JSON.stringify(found);
    expect(text).toContain(from);
    return JSON.parse(text.replace(from, to));
  };
  const withChange = (...change: Parameters<typeof changed>) => {
    const made = changed(...change);
    return manifests.map((each) =>
      each.kind === made.kind && each.metadata.name === change[1] ? made : each,
    );
  };

  it.each<[string, Parameters<typeof changed>, RegExp]>([
    [
      'an unknown field',
      ['Deployment', 'scrapifie-api', '"args":', '"arguments":'],
      /containers\/0\/arguments is not in the schema/,
    ],
    [
      'an unknown field of a probe',
      ['Deployment', 'scrapifie-api', '"failureThreshold":', '"failures":'],
      /startupProbe\/failures is not/,
    ],
    [
      'a number in place of text',
      ['ConfigMap', 'scrapifie-settings', '"data":{}', '"data":{"A":1}'],
      /data\/data\/A must be string/,
    ],
    [
      'text in place of a number',
      ['Service', 'scrapifie-api', '"port":80', '"port":"80"'],
      /port must be integer/,
    ],
    [
      'a missing field',
      ['StatefulSet', 'scrapifie-minio', '"selector":', '"selectors":'],
      /must have required property selector/,
    ],
    [
      'a value outside of a list',
      ['NetworkPolicy', 'scrapifie-api', '"matchLabels":', '"matchLabel":'],
      /matchLabel is not in/,
    ],
    [
      'null',
      ['ServiceAccount', 'scrapifie', '"labels":{', '"annotations":null,"labels":{'],
      /annotations is null/,
    ],
    [
      'an unknown field of an operator',
      ['ServiceMonitor', 'scrapifie', '"interval":', '"every":'],
      /endpoints\/0\/every is not in/,
    ],
  ])('because of %s is told by its schema', async (_, change, problem) => {
    expect((await schemaProblems(changed(...change))).join('\n')).toMatch(problem);
  });

  it.each<[string, Parameters<typeof changed>, RegExp]>([
    [
      'a Secret that no object makes',
      ['Deployment', 'scrapifie-api', '"name":"scrapifie-secrets"', '"name":"secret"'],
      /needs Secret\/secret/,
    ],
    [
      'a key that the Secret lacks',
      ['Deployment', 'scrapifie-api', '"key":"SCRAPIFIE_API_KEY"', '"key":"API_KEY"'],
      /needs the key API_KEY of/,
    ],
    [
      'a ConfigMap',
      ['Deployment', 'scrapifie-scheduler', 'scrapifie-settings', 'settings'],
      /needs ConfigMap\/settings/,
    ],
    [
      'a probe of another port',
      ['Deployment', 'scrapifie-api', '"port":"http"', '"port":"web"'],
      /startupProbe asks for the port web/,
    ],
    [
      'a Service of no pod',
      ['Service', 'scrapifie-api', '"selector":{', '"selector":{"a":"b",'],
      /Service\/scrapifie-api selects no pod/,
    ],
    [
      'a Service of another port',
      ['Service', 'scrapifie-redis', '"targetPort":"redis"', '"targetPort":"db"'],
      /leads to the port db/,
    ],
    [
      'labels that are not its own',
      ['Deployment', 'scrapifie-api', '"matchLabels":{', '"matchLabels":{"a":"b",'],
      /does not select its own/,
    ],
    [
      'a password after its use',
      ['Deployment', 'scrapifie-api', '"name":"REDIS_PASSWORD"', '"name":"REDIS"'],
      /uses REDIS_PASSWORD/,
    ],
    [
      'a budget for no pod',
      ['PodDisruptionBudget', 'scrapifie-api', '"matchLabels":{', '"matchLabels":{"a":"b",'],
      /selects no pod/,
    ],
    [
      'a monitor of no Service',
      ['ServiceMonitor', 'scrapifie', '"matchLabels":{', '"matchLabels":{"a":"b",'],
      /selects 0 Services/,
    ],
  ])('because of %s is told by its references', (_, change, problem) => {
    expect(danglingReferences(withChange(...change), new Set()).join('\n')).toMatch(problem);
  });
});
