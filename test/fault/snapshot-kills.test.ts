import { expect, it } from 'vitest';
import { killSnapshots } from './snapshot-kills.ts';

it('every page is seen once in the history, however often the crawl is killed', async () => {
  const { problems, ...report } = await killSnapshots({ kills: 2, pages: 300, seed: 7 });
  expect(problems).toEqual([]);
  expect(report).toMatchObject({ pages: 300, sightings: 300 });
}, 180_000);
