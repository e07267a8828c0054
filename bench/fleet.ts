import { measureCrawls } from './fleet/crawls.ts';
import { measureFrontier } from './fleet/frontier.ts';
import { openPlace } from './fleet/place.ts';
import { measureScrapes } from './fleet/scrapes.ts';
import { simulatePartitions } from './fleet/simulation.ts';
import type { Part } from './part.ts';

/** Many processes on real servers: what a page costs them, what they take, and how far one database reaches. */
export const fleet: Part = {
  name: 'fleet',
  async run(options) {
    const place = await openPlace();
    try {
      const crawls = await measureCrawls(place, options);
      const scrapes = await measureScrapes(place, options);
      const frontier = await measureFrontier(place, options);
      const partitions = await simulatePartitions(frontier.rates);
      const sections = [crawls, scrapes, frontier, partitions];
      return {
        title: 'The fleet',
        about:
          'PostgreSQL, Redis, an S3 server and the processes of all roles, on one machine. The same static pages on one host and ' +
          'spread over eight, crawled through the API of one process, of fleets with one and two workers, and by a crawler with one ' +
          'BullMQ job per URL. Then a thousand clients that scrape through the proxy, and a large frontier in PostgreSQL.',
        tables: sections.flatMap(({ tables }) => tables),
        bars: sections.flatMap(({ bars }) => bars),
        notes: sections.flatMap(({ notes }) => notes),
        data: {
          rates: frontier.rates,
          crawls: crawls.data,
          scrapes: scrapes.data,
          frontier: frontier.data,
          partitions: partitions.data,
        },
      };
    } finally {
      await place.close();
    }
  },
};
