import { createLogger } from '../../core/observe/logger.ts';
import { createBlobsS3 } from '../../drivers/blobs-s3/blobs-s3.ts';
import { createQueueBullmq } from '../../drivers/queue-bullmq/queue-bullmq.ts';
import { createHttpEngine } from '../http/http-engine.ts';
import { startRenderWorker } from './render-worker.ts';
import { createParcels } from './sealed-calls.ts';

/**
 * A browser worker as a process, which answers from the HTTP engine. Arguments: Redis, S3, the prefix of the queue,
 * and its name, which it sends to sites as its user agent. Says when it is ready, and ends with its standard input.
 */
const [redisUrl = '', s3Url = '', prefix = '', name = ''] = process.argv.slice(2);
process.stdin.on('end', () => process.exit()).resume();
const queue = await createQueueBullmq({
  url: redisUrl,
  prefix,
  stall: { lockMs: 1_000, checkMs: 500 },
  beatMs: 300,
  onHandlerError: (error) => process.stderr.write(`${String(error)}\n`),
});
const blobs = await createBlobsS3({ url: s3Url, now: Date.now, random: Math.random });
await startRenderWorker({
  name: 'browser',
  queue,
  blobs,
  parcels: createParcels(blobs, null),
  engine: createHttpEngine({ userAgent: name, allowPrivate: true }),
  concurrency: 4,
  logger: createLogger({ level: 'warn' }),
});
process.stdout.write('ready\n');
