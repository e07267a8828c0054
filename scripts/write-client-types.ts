// Brings the types of the clients up to date with the API: node scripts/write-client-types.ts
// Needs the packages of test/openapi: sh scripts/setup.sh test/openapi
import { writeFileSync } from 'node:fs';
import { openPlatform } from '../test/property/api-platform.ts';
import { clientTypes } from './client-types/client-types.ts';

const platform = await openPlatform();
try {
  const { payload } = await platform.call({ url: '/openapi.json' });
  for (const [path, text] of clientTypes(payload)) writeFileSync(path, text);
} finally {
  await platform.close();
}
