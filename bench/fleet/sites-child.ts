// Several static sites in one process, each on a port of its own. usage: node sites-child.ts PAGES PAGES …
import { startSite } from '../../test/site/site.ts';

const counts = process.argv.slice(2).map(Number);
const sites = await Promise.all(counts.map((pages) => startSite({ log: 'counts', pages })));
process.stdout.write(`${JSON.stringify(sites.map(({ url }) => url))}\n`);
process.once('SIGTERM', () => void Promise.all(sites.map((site) => site.close())));
