import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchOptions } from '../part.ts';
import { figure } from '../report.ts';
import { rotated } from '../sample.ts';
import { type Contestant, embedded, fleetOf, jobPerUrl } from './contestants.ts';
import { crawlSection, LAYOUTS, type Runs } from './crawl-section.ts';
import type { Place } from './place.ts';
import type { Section } from './section.ts';
import { type SiteGroup, spawnSites, spreadOverEight } from './sites.ts';

const FULL = { pages: 4_000, rounds: 3, warmUpPages: 800 };
const QUICK = { pages: 480, rounds: 1, warmUpPages: 160 };
/** The same pages through the API of one process, of fleets, and through a queue with one job per URL. */
export async function measureCrawls(place: Place, options: BenchOptions): Promise<Section> {
  const { pages, rounds, warmUpPages } = options.isQuick ? QUICK : FULL;
  const sites = await spawnSites([spreadOverEight(warmUpPages), [pages], spreadOverEight(pages)]);
  const scratch = join(options.scratch, 'crawls');
  try {
    const ground = { place, sites, scratch };
    const list = [
      embedded(ground),
      fleetOf(ground, 1),
      fleetOf(ground, 2),
      jobPerUrl(ground, false),
      jobPerUrl(ground, true),
    ];
    const [warmUp, ...groups] = sites.groups;
    if (warmUp === undefined) throw new Error('There are no sites to crawl.');
    const all: Runs[] = list.flatMap(({ name }) =>
      LAYOUTS.map((layout): Runs => ({ name, layout, runs: [] })),
    );
    for (let round = 0; round < rounds; round++) {
      for (const contestant of rotated(list, round)) {
        rmSync(scratch, { recursive: true, force: true });
        await takeTurn(contestant, warmUp, groups, round, all, options);
      }
    }
    return crawlSection(all, pages);
  } finally {
    await sites.close();
  }
}

async function takeTurn(
  contestant: Contestant,
  warmUp: SiteGroup,
  groups: readonly SiteGroup[],
  round: number,
  all: readonly Runs[],
  { say }: BenchOptions,
): Promise<void> {
  // Whichever comes second finds the processes warmer.
  const order = rotated([...groups.keys()], round);
  const crawled = await contestant.crawl(
    warmUp,
    order.flatMap((at) => groups[at] ?? []),
  );
  for (const [at, crawl] of crawled.entries()) {
    const layout = LAYOUTS[order[at] ?? 0];
    all.find((runs) => runs.name === contestant.name && runs.layout === layout)?.runs.push(crawl);
    say(
      `round ${round + 1} ${contestant.name}, ${layout}: ${figure(crawl.pages / crawl.seconds)} pages/s, ` +
        `${figure(crawl.redisCommands / crawl.pages)} Redis commands and ${figure(crawl.statements / crawl.pages)} ` +
        `statements a page, ${crawl.faults} faults`,
    );
  }
}
