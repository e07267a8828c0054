// Sizes and prices of a fleet, from what `make bench ARGS=capacity` measured last.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { CapacityData } from '../capacity.ts';
import { ASSUMED_PRICES, type CloudPrices, type PageKind, planCapacity } from './plan.ts';
import { INBOUND_KB } from './tables.ts';

const USAGE = `usage: node bench/capacity/plan-run.ts [--pages-per-second 100] [--rendered] [--browser-cpu-ms 400] [--inbound-kb 100]
  [--price NAME=DOLLARS …]   prices: ${Object.keys(ASSUMED_PRICES)
    .filter((name) => name !== 'asOf')
    .join(', ')}`;

function fail(message: string): never {
  process.stderr.write(`${message}\n${USAGE}\n`);
  process.exit(2);
}

const { values } = parseArgs({
  options: {
    'pages-per-second': { type: 'string', default: '100' },
    rendered: { type: 'boolean', default: false },
    'browser-cpu-ms': { type: 'string' },
    'inbound-kb': { type: 'string' },
    price: { type: 'string', multiple: true, default: [] },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(`${USAGE}\n`);
  process.exit(0);
}

function positive(text: string, name: string): number {
  const value = Number(text);
  return value > 0 ? value : fail(`--${name} must be a number above 0.`);
}

const prices: Record<string, unknown> = { ...ASSUMED_PRICES };
for (const text of values.price) {
  const [name = '', dollars = ''] = text.split('=');
  if (!(name in prices) || name === 'asOf' || !(Number(dollars) >= 0)) fail(`There is no price ${text}.`);
  prices[name] = Number(dollars);
}
const kind: PageKind = values.rendered ? 'rendered' : 'static';
const file = new URL('../results/capacity.json', import.meta.url);
const { crawls } = (JSON.parse(readFileSync(file, 'utf8')) as { result: { data: CapacityData } }).result.data;
const browsers =
  values['browser-cpu-ms'] === undefined
    ? crawls.rendered.cpuMs.browsers
    : positive(values['browser-cpu-ms'], 'browser-cpu-ms');
const rendered = { ...crawls.rendered, cpuMs: { ...crawls.rendered.cpuMs, browsers } };
const plan = planCapacity(
  { ...crawls, rendered },
  {
    kind,
    pagesPerSecond: positive(values['pages-per-second'], 'pages-per-second'),
    inboundKb:
      values['inbound-kb'] === undefined ? INBOUND_KB[kind] : positive(values['inbound-kb'], 'inbound-kb'),
  },
  prices as unknown as CloudPrices,
);
process.stdout.write(`${JSON.stringify(plan, null, 2)}\n`);
