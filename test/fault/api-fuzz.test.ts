import { expect, test } from 'vitest';
import { fuzzApi } from './api-fuzz/fuzz-api.ts';

/** `make fault` sends 100,000. */
const REQUESTS = 1_500;
const LIMIT_MS = 400_000;

test(
  'no request makes the API fail, hang, leak or tell a secret, and every error is one of the registry',
  async () => {
    const seed = Date.now() % 1_000_000;
    const { problems, requests } = await fuzzApi({ requests: REQUESTS, seed });
    expect({ seed, problems }).toEqual({ seed, problems: [] });
    expect(requests).toBeGreaterThanOrEqual(REQUESTS);
  },
  LIMIT_MS,
);
