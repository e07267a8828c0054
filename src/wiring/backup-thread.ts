import { parentPort, workerData } from 'node:worker_threads';
import { asScrapifieError } from '../core/errors/scrapifie-error.ts';
import { BACKUP_TOOLS } from './backups.ts';
import type { BackupThreadAnswer, BackupThreadData } from './scheduled-backups.ts';

/** The entry of a thread that makes one backup: reading and compressing everything would hold up the event loop. */
if (parentPort === null) throw new Error('The backup thread has no parent.');
const { from, to } = workerData as BackupThreadData;
try {
  const report = await BACKUP_TOOLS.makeBackup(from, to, { hasVaultKey: false, isVerified: true });
  parentPort.postMessage({ report } satisfies BackupThreadAnswer);
} catch (error) {
  const { code, message } = asScrapifieError(error);
  parentPort.postMessage({ failure: { code, message } } satisfies BackupThreadAnswer);
}
