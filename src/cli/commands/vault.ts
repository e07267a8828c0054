import { type RotationReport, rotateVault } from '../../capabilities/sessions/rotate-vault.ts';
import { createVault, VAULT_HINT } from '../../capabilities/sessions/vault.ts';
import {
  keyFileOf,
  newVaultKey,
  readKeyFile,
  readVaultKeys,
  replaceKeyFile,
} from '../../core/config/vault-keys.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { FLAGS, readSettings } from '../flags/flags.ts';
import { dataPlaceOf, openExisting } from '../folders/data-folder.ts';
import { helpBelow } from '../output/help.ts';
import type { DefineCommand, Shell } from '../shell/shell.ts';

interface VaultFlags {
  readonly dataDir?: string;
  readonly json?: true;
}

const ACTOR = 'command line';

const EXAMPLES = `
Where the key is in the data folder, a new one is made and every record is brought under it, while no server works
there. Where it comes from SCRAPIFIE_VAULT_KEY, set the new key there and the former one in SCRAPIFIE_VAULT_OLD_KEYS, in
every process; then rotate, beside running servers too; then remove the former key. Records that were stored without a
key are encrypted as well. A rotation that was interrupted is started again by the same command.

Examples:
  scrapifie vault rotate
  scrapifie vault rotate --data-dir ./data`;

export const define: DefineCommand = (command, shell) => {
  command.addHelpText('afterAll', helpBelow(EXAMPLES));
  command
    .command('rotate')
    .description('bring everything that is encrypted under a new vault key')
    .addOption(FLAGS.dataDir())
    .addOption(FLAGS.json())
    .action(async (flags: VaultFlags) => {
      const report = await rotate(shell, flags);
      shell.stdout.write(flags.json ? `${JSON.stringify(report)}\n` : describe(report));
    });
};

interface Rotation extends RotationReport {
  readonly keyId: string;
}

async function rotate(shell: Shell, { dataDir }: VaultFlags): Promise<Rotation> {
  const place = dataPlaceOf(shell, dataDir);
  const settings = { ...readSettings(shell), ...place };
  const keyFile = settings.vaultKey === undefined ? keyFileOf(settings) : null;
  const storage = await openExisting(shell, dataDir);
  const unlock = place.databaseUrl === undefined ? storage.lockAlone() : null;
  try {
    if (place.databaseUrl === undefined && unlock === null) {
      throw new ScrapifieError(
        'DATA_DIR_LOCKED',
        `A server works in ${place.dataDir}. Stop it first: it would go on sealing with the former key.`,
      );
    }
    if (keyFile !== null) addKey(keyFile);
    const { vaultKey, vaultOldKeys } = readVaultKeys(settings);
    const vault = createVault(vaultKey, vaultOldKeys);
    if (vault === null) throw new ScrapifieError('INVALID_SETTINGS', `There is no vault key. ${VAULT_HINT}`);
    const report = await rotateVault(storage.store, vault);
    const details = { keyId: vault.keyId, changed: report.changed, locked: report.locked };
    await storage.store.audit([
      { at: Date.now(), actor: ACTOR, action: 'vault.rotate', target: vault.keyId, details },
    ]);
    // A record that stayed closed may be of a key that is only in this file.
    if (keyFile !== null && report.locked === 0) replaceKeyFile(keyFile, readKeyFile(keyFile).slice(0, 1));
    return { keyId: vault.keyId, ...report };
  } finally {
    unlock?.();
    await storage.close();
  }
}

/** Several keys in the file are a rotation that was interrupted: it goes on with the key that it had made. */
function addKey(keyFile: string): void {
  const keys = readKeyFile(keyFile);
  if (keys.length === 1) replaceKeyFile(keyFile, [newVaultKey(), ...keys]);
}

function describe({ keyId, changed, locked, lockedNames }: Rotation): string {
  const done = `Everything is under the vault key ${keyId}; ${changed} records were changed.\n`;
  if (locked === 0) return done;
  const told = lockedNames.map((name) => `  ${name}\n`).join('');
  return `${changed} records are under the vault key ${keyId} now. ${locked} were sealed with a key that is not set:\n${told}`;
}
