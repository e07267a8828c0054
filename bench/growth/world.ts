import type { HostKey, TaskId } from '../../src/core/model/ids.ts';
import type { NewTask } from '../../src/core/model/task.ts';
import { createCanonicalizer } from '../../src/crawl/frontier/canonical.ts';

/** What a crawl of many sites finds: pages whose links mostly stay on their own site. */
export interface World {
  readonly seeds: readonly NewTask[];
  /** The first look at a site: between 30 and 300 links, nearly all of them new. */
  firstLinks(host: HostKey, page: TaskId): NewTask[];
  /** A page deep in a site: 30 links, of which one is new. */
  laterLinks(host: HostKey, page: TaskId): NewTask[];
  /** URLs handed out so far. */
  readonly known: number;
}

const LINKS_PER_PAGE = 30;
/** One link in so many leads to another site. */
const ABROAD_EVERY = 10;
const LEAST_FIRST_LINKS = 30;
const MOST_FIRST_LINKS = 300;
const SECTIONS = ['products', 'blog', 'news', 'category', 'docs', 'people', 'archive'];

/** `target` URLs over `hosts` sites once every site was looked at for the first time. */
export function createWorld(hosts: number, target: number, random: () => number): World {
  const canonical = createCanonicalizer({ ignoreQueryParameters: [], keepFragment: false });
  /** URLs known of each site; their paths follow from their number, so that none has to be kept. */
  const counts = new Uint32Array(hosts).fill(1);
  const numbers = new Map(Array.from({ length: hosts }, (_, host): [string, number] => [nameOf(host), host]));
  const below = (limit: number) => Math.floor(random() * limit);
  // Sites differ in size; what the average would miss or exceed is made up for by the scale.
  const meanFirst = (target - hosts) / hosts;
  const isNarrow = meanFirst < LEAST_FIRST_LINKS || meanFirst > MOST_FIRST_LINKS;
  if (isNarrow) throw new Error(`A site would get ${meanFirst} links on average.`);
  let known = hosts;

  function taskAt(host: number, page: number, foundOn: TaskId | null, base: string): NewTask {
    const found = canonical(page === 0 ? `https://${nameOf(host)}/` : pathOf(host, page, base), base);
    if (found === null) throw new Error(`The page ${page} of site ${host} has no canonical URL.`);
    return {
      kind: 'page',
      url: found.url,
      urlKey: found.urlKey,
      hostKey: found.hostKey,
      depth: page === 0 ? 0 : 1,
      foundBy: foundOn === null ? 'seed' : 'link',
      foundOn,
      state: 'ready',
      rule: null,
    };
  }

  function newOn(host: number): number {
    const page = counts[host] ?? 0;
    counts[host] = page + 1;
    known += 1;
    return page;
  }

  function links(host: number, fresh: number, old: number, page: TaskId): NewTask[] {
    const base = `https://${nameOf(host)}/`;
    const tasks: NewTask[] = [];
    for (let at = 0; at < fresh; at++) tasks.push(taskAt(host, newOn(host), page, base));
    for (let at = 0; at < old; at++) {
      const where = at % ABROAD_EVERY === ABROAD_EVERY - 1 ? below(hosts) : host;
      tasks.push(taskAt(where, below(counts[where] ?? 1), page, base));
    }
    return tasks;
  }

  const hostOf = (key: HostKey) => numbers.get(key) ?? 0;
  return {
    seeds: Array.from({ length: hosts }, (_, host) => taskAt(host, 0, null, `https://${nameOf(host)}/`)),
    firstLinks(key, page) {
      // Many small sites and few large ones, around the mean that fills the world.
      const share = 0.3 + 1.4 * random();
      const count = Math.round(Math.min(MOST_FIRST_LINKS, Math.max(LEAST_FIRST_LINKS, meanFirst * share)));
      return links(hostOf(key), count, 3, page);
    },
    laterLinks: (key, page) => links(hostOf(key), 1, LINKS_PER_PAGE - 1, page),
    get known() {
      return known;
    },
  };
}

const nameOf = (host: number) => `www.site-${host}.example`;

/** Links as pages have them: some whole, most by their path, some with a query. */
function pathOf(host: number, page: number, base: string): string {
  const onOwn = base === `https://${nameOf(host)}/`;
  const section = SECTIONS[page % SECTIONS.length] ?? 'page';
  const query = page % 5 === 0 ? `?page=${page % 40}&sort=new` : '';
  const path = `/${section}/some-words-of-a-title-${page}${query}`;
  return onOwn ? path : `https://${nameOf(host)}${path}`;
}
