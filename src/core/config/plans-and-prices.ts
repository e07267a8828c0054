import { z } from 'zod';

const limitOf = (min: number, max: number) => z.number().int().min(min).max(max).nullable();

/** Limits of an account as requests and settings give them. */
export const limitFields = {
  requestsPerMinute: limitOf(1, 100_000_000).describe(
    'Requests to the API per minute, over all keys; null: no limit of its own.',
  ),
  concurrentPages: limitOf(1, 1_000_000).describe(
    'Pages fetched at the same time, over all processes; null: no limit.',
  ),
  openUrls: limitOf(0, Number.MAX_SAFE_INTEGER).describe(
    'URLs of its jobs that have not ended; null: no limit.',
  ),
  storedBytes: limitOf(0, Number.MAX_SAFE_INTEGER).describe(
    'Bytes of the bodies that its jobs have stored, before compression; null: no limit.',
  ),
};

export const PLAN_NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;

const planSchema = z.strictObject(limitFields);
const plansSchema = z.record(
  z
    .string()
    .regex(PLAN_NAME)
    .refine((name) => name !== 'custom'),
  planSchema.partial(),
);

export type Plans = Readonly<Record<string, Required<z.infer<typeof planSchema>>>>;

/** The plans of the settings; null when the text is not what the settings ask for. Limits left out are none. */
export function readPlans(text: string): Plans | null {
  if (text === '') return {};
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null;
  }
  const parsed = plansSchema.safeParse(json);
  if (!parsed.success) return null;
  return Object.fromEntries(
    Object.entries(parsed.data).map(([name, limits]) => [
      name,
      {
        requestsPerMinute: limits.requestsPerMinute ?? null,
        concurrentPages: limits.concurrentPages ?? null,
        openUrls: limits.openUrls ?? null,
        storedBytes: limits.storedBytes ?? null,
      },
    ]),
  );
}

/** The largest price, in credits. */
const MOST = 1_000_000_000;
const price = z.number().min(0).max(MOST);

const pricesSchema = z.strictObject({
  http: price.default(1),
  browser: price.default(5),
  flaresolverr: price.default(10),
  stealth: price.default(10),
  firecrawl: price.default(20),
  datacenter: price.default(1),
  residential: price.default(10),
  mobile: price.default(20),
  tokens: price.default(1),
  solver: price.default(20),
  screenshot: price.default(1),
  pdf: price.default(1),
});

/** In credits, as the settings give them. `tokens` is for a thousand. */
export type Prices = z.infer<typeof pricesSchema>;

/** The prices of the settings; null when the text is not what the settings ask for. */
export function readPrices(text: string): Prices | null {
  let json: unknown;
  try {
    json = text === '' ? {} : JSON.parse(text);
  } catch {
    return null;
  }
  const parsed = pricesSchema.safeParse(json);
  return parsed.success ? parsed.data : null;
}
