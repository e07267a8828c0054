import { createQueueBullmq } from './queue-bullmq.ts';

/** A process that asks for as much as it is given further arguments, one call each, and waits. */
const [url = '', prefix = '', ...requests] = process.argv.slice(2);
const queue = await createQueueBullmq({ url, prefix, beatMs: 300, onHandlerError: () => undefined });
const calls = requests.map((request) =>
  queue.call('scrape-browser', request, { rank: 0, timeoutMs: 600_000 }),
);
process.stdout.write('ready\n');
await Promise.all(calls);
