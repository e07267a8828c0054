import type { Shell, StoragePlace } from '../shell/shell.ts';
import { type CrawlFolder, findCrawl } from './crawl-folder.ts';
import { dataPlaceOf, folderPlace } from './data-folder.ts';

/**
 * Where the session of a crawl is kept: in the data folder, where `scrape`, `login` and servers see it as well. Undefined
 * for a crawl without a session. A crawl that goes on has the session of its job, whatever the flags repeat; one that an
 * earlier version began has it in its own folder.
 */
export async function sessionPlace(
  shell: Shell,
  folder: CrawlFolder,
  flags: {
    readonly session?: string;
    readonly dataDir?: string;
    readonly resume?: true;
    readonly ifModified?: true;
  },
): Promise<StoragePlace | undefined> {
  const place = () => dataPlaceOf(shell, flags.dataDir);
  const wants = { resume: flags.resume === true, again: flags.ifModified === true };
  if (findCrawl(folder, wants) === 'new') return flags.session === undefined ? undefined : place();
  const { store, close } = await shell.openStorage(folderPlace(folder.stateDir));
  try {
    const account = await store.defaultAccount();
    const [job] = (await store.listJobs({ accountId: account, kind: 'crawl', limit: 1 })).items;
    const name = job?.options.page.session ?? flags.session ?? null;
    if (name === null || (await store.getSession(account, name)) !== null) return undefined;
    return place();
  } finally {
    await close();
  }
}
