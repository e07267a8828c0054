import { parseArgs } from 'node:util';
import { DEFAULT_PAGES, startSite } from './site.ts';

/** The test web as a program: prints its address on one line and serves until it is told to stop. */
const USAGE =
  'usage: node test/site/main.ts [--port 8080] [--pages 4000] [--log off|counts|full] [--log-limit 200000]';

function fail(message: string): never {
  process.stderr.write(`${message}\n${USAGE}\n`);
  process.exit(2);
}

function wholeNumber(name: string, value: string, least: number, most: number): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < least || number > most) {
    fail(`--${name} must be a whole number from ${least} to ${most}.`);
  }
  return number;
}

function readOptions() {
  try {
    return parseArgs({
      options: {
        port: { type: 'string', default: '8080' },
        pages: { type: 'string', default: String(DEFAULT_PAGES) },
        log: { type: 'string', default: 'counts' },
        'log-limit': { type: 'string', default: '200000' },
      },
    }).values;
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

const { port, pages, log, 'log-limit': logLimit } = readOptions();
if (log !== 'off' && log !== 'counts' && log !== 'full') fail('--log must be off, counts or full.');

const site = await startSite({
  port: wholeNumber('port', port, 0, 65_535),
  pages: wholeNumber('pages', pages, 1, 10_000_000),
  log,
  logLimit: wholeNumber('log-limit', logLimit, 1, 10_000_000),
}).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return process.exit(1);
});
process.stdout.write(`${site.url}/\n`);

let isStopping = false;
const stop = (): void => {
  if (isStopping) return;
  isStopping = true;
  void site.close();
};
process.on('SIGTERM', stop);
process.on('SIGINT', stop);
