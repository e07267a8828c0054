import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { modelOf, type OpenApiDocument } from './api-model.ts';
import { goTypes } from './go-types.ts';
import { pythonTypes } from './python-types.ts';

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const GENERATOR = at('test/openapi/node_modules/openapi-typescript/bin/cli.js');

/** The files with the types of all clients, by their paths. Needs the packages of test/openapi, and gofmt. */
export function clientTypes(document: string): ReadonlyMap<string, string> {
  const model = modelOf(JSON.parse(document) as OpenApiDocument);
  return new Map([
    [at('sdk/typescript/src/api-types.ts'), typescriptTypes(document)],
    [at('sdk/python/src/scrapifie/types.py'), pythonTypes(model)],
    [at('sdk/go/types.go'), execFileSync('gofmt', { input: goTypes(model), encoding: 'utf8' })],
  ]);
}

function typescriptTypes(document: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'scrapifie-types-'));
  try {
    const [source, target] = [join(folder, 'openapi.json'), join(folder, 'types.ts')];
    writeFileSync(source, document);
    // A field with a default may be left out of a request.
    execFileSync(process.execPath, [GENERATOR, source, '-o', target, '--default-non-nullable', 'false'], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return readFileSync(target, 'utf8');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
