import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteSearch } from '../../src/drivers/search-sqlite/search-sqlite.ts';
import type { SearchIndex } from '../../src/ports/search-index.ts';
import type { Opened } from './contract.ts';
import { searchContract } from './search-contract.ts';

async function openIn(dir: string): Promise<Opened<SearchIndex>> {
  const driver = openSqliteSearch(join(dir, 'search.db'));
  return {
    driver,
    reopen: () => openIn(dir),
    async close() {
      await driver.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

searchContract('SQLite', async () => openIn(await mkdtemp(join(tmpdir(), 'scrapifie-search-'))));
