import type { BackupReport } from '../../capabilities/backup/installation.ts';
import type { Screen } from './screen.ts';
import { details } from './table.ts';

/** What a backup holds, as the commands print it; `done` is their first line. */
export function backupSummary(screen: Screen, done: string, { tables, bodies, vault }: BackupReport): string {
  const rows = Object.entries(tables)
    .filter(([, figures]) => figures.rows > 0)
    .map(([name, figures]) => [name, `${figures.rows} rows`, figures.digest.slice(0, 16)]);
  const absent = bodies.absent === 0 ? [] : [['bodies that were missing already', `${bodies.absent}`]];
  const figures = [...rows, ['bodies', `${bodies.count}`, `${bodies.bytes} bytes`], ...absent];
  return `${done}\n${details(screen, figures)}${keyLine(vault)}`;
}

function keyLine({ keyId, isIncluded, isKnown, writtenTo }: BackupReport['vault']): string {
  if (keyId === null) return '';
  if (writtenTo !== null) return `The vault key ${keyId} was written to ${writtenTo}.\n`;
  if (isIncluded) return `The vault key ${keyId} is in the backup: keep it as safe as the key itself.\n`;
  if (isKnown) return `Secrets are sealed with the vault key ${keyId}, which is not in the backup.\n`;
  return `Secrets are sealed with the vault key ${keyId}: set it as SCRAPIFIE_VAULT_KEY, or put its vault.key into the data folder.\n`;
}
