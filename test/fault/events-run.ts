import { parseArgs } from 'node:util';
import { killListened } from './kill-listened.ts';

/**
 * The long form of the test of live events: `node test/fault/events-run.ts --pages 3000 --kills 20 [--clients 20]`. With
 * FLEET_TEST_PROFILE=fleet and the URLs of the servers in the environment it runs on these.
 */
const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '3000' },
    kills: { type: 'string', default: '20' },
    clients: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const say = (line: string) => void process.stdout.write(`${line}\n`);
const [pages, kills, clients, seed] = [values.pages, values.kills, values.clients, values.seed].map(
  Number,
) as [number, number, number, number];
say(
  `seed ${seed}: ${clients} clients listen to a crawl of ${pages} pages whose server is killed ${kills} times`,
);
const report = await killListened({ pages, kills, clients, seed, say });
say(JSON.stringify(report));
process.exitCode = report.problems.length === 0 ? 0 : 1;
