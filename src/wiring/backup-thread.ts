import { asScrapifieError } from '../core/errors/scrapifie-error.ts';
import { answerCalls } from '../lib/threads/answer-calls.ts';
import { BACKUP_TOOLS } from './backups.ts';
import type { BackupMethods } from './scheduled-backups.ts';

/** The entry of a thread that makes one backup: reading and compressing everything would hold up the event loop. */
answerCalls<BackupMethods>({
  async make({ from, to }) {
    try {
      return await BACKUP_TOOLS.makeBackup(from, to, { hasVaultKey: false, isVerified: true });
    } catch (error) {
      throw asScrapifieError(error);
    }
  },
});
