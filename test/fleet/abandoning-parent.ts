import { once } from 'node:events';
import { startServers } from '../../fleet/servers/servers.ts';

/** Starts servers in the folder it is given, says their process ids, and waits to be killed. */
const dir = process.argv[2];
if (dir === undefined) throw new Error('usage: abandoning-parent.ts DIR');
const { postgres, redis, s3 } = await startServers({ dir });
redis.pause();
process.stdout.write(`${JSON.stringify([postgres.pid, redis.pid, s3.pid])}\n`);
process.stdin.resume();
await once(process.stdin, 'end');
