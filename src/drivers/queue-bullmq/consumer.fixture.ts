import { createQueueBullmq } from './queue-bullmq.ts';

/** A process that takes entries and calls and never ends one; says on its output what it took. */
const [url = '', prefix = ''] = process.argv.slice(2);
const queue = await createQueueBullmq({
  url,
  prefix,
  stall: { lockMs: 1_000, checkMs: 500 },
  beatMs: 300,
  onHandlerError: () => undefined,
});
const never = new Promise<never>(() => undefined);
await queue.consume('scrape-http', 1, ({ id }) => {
  process.stdout.write(`entry ${id}\n`);
  return never;
});
await queue.answer('scrape-browser', 1, (request) => {
  process.stdout.write(`call ${String(request)}\n`);
  return never;
});
process.stdout.write('ready\n');
