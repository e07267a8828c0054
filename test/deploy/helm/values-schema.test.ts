import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { CHART, type Values } from './engine.ts';
import { valueSets } from './value-sets.ts';

const SETS = valueSets();
const read = (file: string): string => readFileSync(join(CHART, file), 'utf8');

describe('the schema of the values', () => {
  const schema = JSON.parse(read('values.schema.json'));
  const validate = new Ajv({ allErrors: true, strict: true, strictTypes: false }).compile(schema);
  const defaults = parse(read('values.yaml')) as Values;
  const told = (values: Values) =>
    validate(values)
      ? ''
      : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`).join('\n');

  it('accepts the defaults and every set, and names every value', () => {
    expect(told(defaults)).toBe('');
    for (const [name, values] of SETS) expect([name, told(values)]).toEqual([name, '']);
    const { properties } = schema as { properties: object };
    expect(Object.keys(properties).filter((name) => name !== 'global')).toEqual(Object.keys(defaults));
  });

  it.each<[string, Values, RegExp]>([
    ['a mode that does not exist', { mode: 'cluster' }, /\/mode must be equal to one of/],
    ['a misspelt value', { role: {} }, /must NOT have additional properties/],
    [
      'a misspelt setting',
      { settings: { SCRAPIFIE_CONTAKT: 'x' } },
      /\/settings must NOT have additional properties/,
    ],
    ['a secret among the settings', { settings: { SCRAPIFIE_VAULT_KEY: 'x' } }, /\/settings must NOT/],
    [
      'a password in a URL',
      { settings: { SCRAPIFIE_S3_URL: 'https://a:b@s3/x' } },
      /\/settings\/SCRAPIFIE_S3_URL must NOT/,
    ],
    [
      'replicas that are text',
      { roles: { api: { replicas: 'two' } } },
      /\/roles\/api\/replicas must be integer/,
    ],
    ['a size without a unit', { persistence: { size: '50' } }, /\/persistence\/size must match pattern/],
    ['root', { security: { user: 0 } }, /\/security\/user must be >= 1/],
    [
      'an Ingress without a host',
      { ingress: { enabled: true, hosts: [] } },
      /\/ingress\/hosts must NOT have fewer/,
    ],
    [
      'a crawl without a request',
      { crawls: { a: { schedule: '@daily' } } },
      /must have required property 'request'/,
    ],
    ['a schedule that is none', { cleanup: { schedule: 'daily' } }, /\/cleanup\/schedule must match pattern/],
    [
      'a scheduler that scales',
      { roles: { scheduler: { autoscaling: { enabled: true } } } },
      /must be equal to constant/,
    ],
  ])('refuses %s', (_, values, problem) => {
    expect(told(values)).toMatch(problem);
  });

  it('has patterns that Helm can read, whose regular expressions are RE2', () => {
    const patterns = [...JSON.stringify(schema).matchAll(/"pattern":("(?:[^"\\\\]|\\\\.)*")/g)].map(
      ([, text = '']) => JSON.parse(text),
    );
    expect(patterns.length).toBeGreaterThan(10);
    for (const pattern of patterns) expect(() => RE2JS.compile(pattern)).not.toThrow();
  });

  it('belongs to a chart of the same version as the program', () => {
    const { version } = JSON.parse(readFileSync(join(CHART, '../../../package.json'), 'utf8'));
    expect((parse(read('Chart.yaml')) as { appVersion: string }).appVersion).toBe(version);
  });
});
