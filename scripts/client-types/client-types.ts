import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { modelOf, type OpenApiDocument } from './api-model.ts';
import { goTypes } from './go-types.ts';
import { pythonTypes } from './python-types.ts';
import { typescriptTypes } from './typescript-types.ts';

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** The files with the types of all clients, by their paths. Needs gofmt. */
export function clientTypes(document: string): ReadonlyMap<string, string> {
  const model = modelOf(JSON.parse(document) as OpenApiDocument);
  return new Map([
    [at('sdk/typescript/src/api-types.ts'), typescriptTypes(model)],
    [at('sdk/python/src/scrapifie/types.py'), pythonTypes(model.named)],
    [at('sdk/go/types.go'), execFileSync('gofmt', { input: goTypes(model.named), encoding: 'utf8' })],
  ]);
}
