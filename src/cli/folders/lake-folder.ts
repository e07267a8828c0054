import { noSuchAccount } from '../../capabilities/accounts/accounts.ts';
import type { AccountId } from '../../core/model/ids.ts';
import { createLogger } from '../../core/observe/logger.ts';
import { readSettings } from '../flags/flags.ts';
import type { OpenLakePlace, OpenPlace, Shell } from '../shell/shell.ts';
import { dataPlaceOf, openExisting } from './data-folder.ts';

export interface LakeOfFolder {
  readonly storage: OpenPlace;
  readonly lake: OpenLakePlace;
  /** The account that was named; null: none was. */
  readonly account: AccountId | null;
}

/** The lake of a data folder, or of the installation that the settings name. The caller closes both parts. */
export async function openLakeOf(
  shell: Shell,
  flags: { readonly dataDir?: string | undefined; readonly account?: string | undefined },
): Promise<LakeOfFolder> {
  const storage = await openExisting(shell, flags.dataDir);
  try {
    const account = flags.account === undefined ? null : (flags.account as AccountId);
    if (account !== null && (await storage.store.getAccount(account)) === null) throw noSuchAccount(account);
    const lake = await openLakeBeside(shell, flags.dataDir, storage);
    return { storage, lake, account };
  } catch (error) {
    await storage.close();
    throw error;
  }
}

/** The lake of a storage that is open already. */
export async function openLakeBeside(
  shell: Shell,
  dataDir: string | undefined,
  { store }: Pick<OpenPlace, 'store'>,
): Promise<OpenLakePlace> {
  const settings = readSettings(shell, {});
  const place = dataPlaceOf(shell, dataDir);
  // A folder that was named has its lake in it, whatever the settings say.
  const lake = dataDir === undefined ? settings.lake : undefined;
  const logger = createLogger({ level: 'warn', destination: shell.stderr });
  const ahead = (await store.clock()) - Date.now();
  const now = () => Date.now() + ahead;
  return shell.openLake({ ...settings, ...place, lake }, { store, now, logger });
}
