import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LANGUAGES } from '../../sdk/scenarios/languages.ts';
import { openWorld, type World } from '../../sdk/scenarios/world.ts';
import { startPrism, violationsIn } from './prism.ts';

const LIMIT_MS = 120_000;

let world: World;
let answers = 0;
const found: string[] = [];
beforeAll(async () => {
  world = await openWorld({
    between: startPrism,
    onAnswer(request, { statusCode, headers }) {
      answers += 1;
      for (const { location, message } of violationsIn(headers['sl-violations'])) {
        found.push(`${request.replace(/\?.*/, '')} ${statusCode} ${location.join('.')}: ${message}`);
      }
    },
  });
}, LIMIT_MS);
afterAll(async () => {
  await world?.close();
});

describe('requests of a client, and the answers of the server', () => {
  it(
    'are as the OpenAPI document says, but for the one request that is wrong on purpose',
    async () => {
      // Entries of a try before this one are not of this try.
      answers = 0;
      found.length = 0;
      const [command, args, environment] = LANGUAGES.typescript;
      const verdicts = await world.run(command, args, environment);
      expect(verdicts.filter(({ ok }) => !ok)).toEqual([]);
      expect(answers).toBeGreaterThan(80);
      expect(found).toEqual([
        "POST /v1/scrape 422 request.body: Request body must NOT have additional properties; found 'format'",
      ]);
    },
    LIMIT_MS,
  );
});
