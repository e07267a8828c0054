import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { loadSettings } from '../src/core/config/load.ts';
import { SAMPLE_PATH } from '../src/http/routes/sample.ts';
import { type Fleet, SIZES, startFleet } from './fleet.ts';
import { fleetHealth } from './fleet-health.ts';
import { healthKey, healthTable } from './health-table.ts';
import { keepServersUp } from './keep-servers-up.ts';

const USAGE = `Starts a whole fleet on this machine, to try it out: PostgreSQL, Redis and an S3 server, 2 api, 3 http-worker,
1 browser-worker and 1 scheduler processes, and a proxy before the APIs. Everything is on 127.0.0.1, may fetch from
private addresses, and is gone when it stops (Ctrl-C).

Settings such as SCRAPIFIE_CONTACT hold for every process; see docs/configuration.md.

  --port <n>           port of the proxy (default: a free one)
  --size full|small    small: 1 api, 1 http-worker, 1 scheduler (default: full)
  --help               show this
`;
const REFRESH_MS = 1_000;
const EXIT_USAGE = 2;
const EXIT_FAILED = 1;

interface Flags {
  readonly port: number;
  readonly size: keyof typeof SIZES;
}

function readFlags(): Flags {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '0' },
      size: { type: 'string', default: 'full' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    process.exit(0);
  }
  const { size } = values;
  const port = Number(values.port);
  if (!/^\d+$/.test(values.port) || port > 65_535) throw new Error('--port must be a number up to 65535.');
  if (size !== 'full' && size !== 'small') throw new Error('--size must be full or small.');
  return { port, size };
}

function welcome({ origin, apiKey }: Fleet, dir: string): string {
  const body = JSON.stringify({ url: `${origin}${SAMPLE_PATH}` });
  return `The fleet is ready. Ctrl-C stops it.

  Dashboard  ${origin}  (sign in with the API key)
  API        ${origin}
  Docs       ${origin}/docs
  API key    ${apiKey}
  Logs       ${dir}/*.log

Try it:

  curl -s ${origin}/v1/scrape -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' -d '${body}'

`;
}

/** Redrawn in place on a terminal; elsewhere printed when something has changed. */
async function showHealth(fleet: Fleet, until: AbortSignal): Promise<void> {
  let shownLines = 0;
  let shownKey = '';
  while (!until.aborted) {
    const rows = await fleetHealth(fleet);
    const table = healthTable(rows);
    if (process.stdout.isTTY) {
      const up = shownLines === 0 ? '' : `\x1b[${shownLines}A\x1b[0J`;
      process.stdout.write(`${up}${table}\n`);
      shownLines = table.split('\n').length;
    } else if (healthKey(rows) !== shownKey) {
      process.stdout.write(`${table}\n\n`);
      shownKey = healthKey(rows);
    }
    await delay(REFRESH_MS, undefined, { signal: until }).catch(() => {});
  }
}

async function main({ port, size }: Flags): Promise<void> {
  const stopping = new AbortController();
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        // The second time means now; what is left behind ends with this process.
        if (stopping.signal.aborted) process.exit(EXIT_FAILED);
        stopping.abort();
        resolve();
      });
    }
  });
  const dir = await mkdtemp(join(tmpdir(), 'scrapifie-fleet-'));
  process.stdout.write(`Starting the fleet in ${dir} …\n`);
  try {
    const settings = loadSettings(process.env, { cwd: process.cwd(), overrides: { allowPrivate: true } });
    const starting = startFleet({ dir, port, size: SIZES[size], settings });
    const fleet = await Promise.race([starting, stopped]);
    if (fleet !== undefined) {
      process.stdout.write(welcome(fleet, dir));
      const { postgres, redis, s3 } = fleet.servers;
      const tell = (line: string) => void process.stderr.write(`${line}\n`);
      await Promise.all([
        showHealth(fleet, stopping.signal),
        keepServersUp({ PostgreSQL: postgres, Redis: redis, 'The object store': s3 }, stopping.signal, tell),
      ]);
    }
    process.stdout.write('Stopping: work under way is finished first. Ctrl-C again ends it at once.\n');
    await (await starting).stop();
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

let flags: Flags;
try {
  flags = readFlags();
} catch (error) {
  process.stderr.write(`fleet: ${error instanceof Error ? error.message : error}\n\n${USAGE}`);
  process.exit(EXIT_USAGE);
}
try {
  await main(flags);
} catch (error) {
  process.stderr.write(`fleet: ${error instanceof Error ? error.message : error}\n`);
  process.exit(EXIT_FAILED);
}
