import { z } from 'zod';

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
