import { z } from 'zod';
import type { HostMemory, OutcomeTally } from '../../core/ports/host-store.ts';
import { faded } from '../../crawl/plan/ladder/host-memory.ts';
import { isoTime } from '../../lib/iso-time.ts';

const MINUTE_MS = 60_000;
const LIKELY = 0.5;

const waySchema = z.object({
  engine: z.string(),
  proxyTier: z.string().nullable().describe('Null: without a proxy.'),
  identity: z.enum(['bot', 'browser']),
  successRate: z
    .number()
    .describe('Share of attempts that the site admitted, from 0 to 1; older attempts count less.'),
  weight: z.number().describe('How much experience that is, in attempts; half of it is gone after a day.'),
  lastAt: z.iso.datetime(),
});

export const strategySchema = z
  .object({
    ways: z.array(waySchema).describe('Ways to fetch that were tried, the one with most experience first.'),
    pages: z.object({
      known: z.number().int().describe('Kinds of pages, told apart by their URLs.'),
      needScripts: z.number().int().describe('Those of them that are empty without scripts.'),
    }),
    probedAt: z.iso.datetime().nullable().describe('When a cheaper way was last tried again.'),
  })
  .meta({ id: 'DomainStrategy' })
  .nullable()
  .describe('What the host has taught; null while that is nothing.');

export type StrategyView = z.infer<typeof strategySchema>;

/** What a host has taught, for people. */
export function strategyView(memory: HostMemory | undefined, now: number): StrategyView {
  if (memory === undefined) return null;
  const { ways, shapes, probedAt } = memory;
  // Names of shapes begin with an s; the others stand for folders and the host, which are made up of them.
  const pages = Object.entries(shapes).filter(([name]) => name.startsWith('s'));
  return {
    ways: Object.entries(ways)
      .map(([key, tally]) => wayView(key, tally, now))
      .toSorted((one, other) => other.weight - one.weight),
    pages: {
      known: pages.length,
      needScripts: pages.filter(([, tally]) => rateOf(tally, now) < LIKELY).length,
    },
    probedAt: probedAt > 0 ? isoTime(probedAt) : null,
  };
}

function wayView(key: string, tally: OutcomeTally, now: number): z.infer<typeof waySchema> {
  const [engine = '', tier = '', identity] = key.split('|');
  const { good, bad } = faded(tally, now);
  return {
    engine,
    proxyTier: tier === '' ? null : tier,
    identity: identity === 'b' ? 'browser' : 'bot',
    successRate: rounded(rateOf(tally, now)),
    weight: rounded(good + bad),
    lastAt: new Date(tally[2] * MINUTE_MS).toISOString(),
  };
}

function rateOf(tally: OutcomeTally, now: number): number {
  const { good, bad } = faded(tally, now);
  return good + bad === 0 ? 0 : good / (good + bad);
}

const rounded = (value: number): number => Math.round(value * 100) / 100;
