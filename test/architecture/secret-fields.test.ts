import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SECRET_FIELDS, secretSchemas } from '../../src/capabilities/sessions/secret-fields.ts';
import { openPlatform, type Platform } from '../property/api-platform.ts';

const SRC = join(import.meta.dirname, '../../src');
/** Files that declare what requests take. */
const DECLARES_REQUESTS = /(?:request|fields?|options|credential|actions)\.ts$/;
const SOUNDS_SECRET = /secret|password|token|cookie|credential|authorization|^headers$|key$/i;

/** Properties of request bodies that sound secret, and why none of them is stored sealed. */
const NOT_SEALED: Readonly<Record<string, string>> = {
  crossOriginHeaders: 'names of headers',
  credentials: 'the name of stored credentials',
  key: 'the name of a key on a keyboard',
  idempotencyKey: 'no secret',
  apiKey: 'no secret',
  productToken: 'what robots.txt calls a crawler',
  token: 'proves a log-in by its hash, or names a domain’s proof; in a credential it is in the registry',
};

let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform();
});
afterAll(() => platform.close());

/** The fields of the registry that a schema has, at any depth. */
function fieldsIn(schema: unknown, seen = new Set<unknown>()): string[] {
  if (!(schema instanceof z.core.$ZodType) || seen.has(schema)) return [];
  seen.add(schema);
  const own = secretSchemas.get(schema as z.ZodType)?.field;
  const {
    shape,
    innerType,
    options,
    element,
    valueType,
    in: input,
    out,
  } = schema._zod.def as never as Record<string, unknown>;
  const parts = [...Object.values(shape ?? {}), innerType, ...((options as unknown[]) ?? [])];
  const below = [...parts, element, valueType, input, out].flatMap((part) => fieldsIn(part, seen));
  return own === undefined ? below : [own, ...below];
}

/** The names of all properties of a JSON schema, at any depth and in the components that it refers to. */
function namesIn(value: unknown, components: Readonly<Record<string, object>>): Set<string> {
  const names = new Set<string>();
  const seen = new Set<unknown>();
  const waiting = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (next === null || typeof next !== 'object' || seen.has(next)) continue;
    seen.add(next);
    for (const [key, below] of Object.entries(next)) {
      if (key === 'example' || key === 'examples') continue;
      if (key === 'properties') for (const name of Object.keys(below)) names.add(name);
      waiting.push(key === '$ref' ? components[below.split('/').at(-1)] : below);
    }
  }
  return names;
}

describe('the registry of secret fields', () => {
  it('has a schema of a request for each of its entries', async () => {
    const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
      (file) => DECLARES_REQUESTS.test(file) && !file.includes('test'),
    );
    const found = new Set<string>();
    for (const file of files) {
      const exported: object = await import(join(SRC, file));
      for (const schema of Object.values(exported)) for (const field of fieldsIn(schema)) found.add(field);
    }
    expect([...found].toSorted()).toEqual(Object.keys(SECRET_FIELDS).toSorted());
  });

  it('has every property of a request body whose name sounds secret', async () => {
    const { payload } = await platform.call({ method: 'GET', url: '/openapi.json' });
    const { paths, components } = JSON.parse(payload) as {
      paths: Record<string, Record<string, { requestBody?: unknown }>>;
      components: { schemas: Record<string, object> };
    };
    const bodies = Object.values(paths).flatMap((path) =>
      Object.values(path).map((each) => each.requestBody),
    );
    const registered = new Set(Object.keys(SECRET_FIELDS).map((field) => field.split('.').at(-1)));
    const names = [...namesIn(bodies, components.schemas)];
    expect(names).toEqual(expect.arrayContaining(['password', 'cookies', 'headers', 'secret']));
    const unknown = names.filter(
      (name) => SOUNDS_SECRET.test(name) && !registered.has(name) && !(name in NOT_SEALED),
    );
    expect(unknown).toEqual([]);
  });
});
