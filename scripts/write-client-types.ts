// Brings the types of the TypeScript client up to date with the API: node scripts/write-client-types.ts [FILE]
// Needs the packages of test/openapi: sh scripts/setup.sh test/openapi
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openPlatform } from '../test/property/api-platform.ts';

const at = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const GENERATOR = at('test/openapi/node_modules/openapi-typescript/bin/cli.js');
const target = resolve(process.argv[2] ?? at('sdk/typescript/src/api-types.ts'));

const folder = mkdtempSync(join(tmpdir(), 'scrapifie-types-'));
const platform = await openPlatform();
try {
  const document = join(folder, 'openapi.json');
  writeFileSync(document, (await platform.call({ url: '/openapi.json' })).payload);
  execFileSync(process.execPath, [GENERATOR, document, '-o', target], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
} finally {
  await platform.close();
  rmSync(folder, { recursive: true, force: true });
}
