import { chmod, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../../core/config/private-files.ts';
import type { Logger } from '../../core/observe/logger.ts';
import { cannotWrite } from '../output/cannot-write.ts';

/** Files of a data folder with what a start of the server made for its operator: a key, and a link that signs in. */
export type StartSecretFile = 'api-key' | 'sign-in-link';

/** Where a secret of a start is told. */
export interface ToldSecret {
  /** The file that has it; null: it may be printed. */
  readonly file: string | null;
  readonly secret: string;
}

/**
 * Keeps a secret that a start of the server has made where only its operator finds it. A terminal shows it to the person
 * before it. Everything else that takes the standard output of a server is a log (of a container engine, of systemd, a
 * file), which others read and which is kept and sent elsewhere: then the secret goes into a file of the data folder that
 * only its owner can read, and the log names the file. Throws DATA_DIR_UNUSABLE or DISK_FULL when that cannot be written.
 */
export async function tellSecret(
  name: StartSecretFile,
  secret: string,
  where: { readonly isTerminal: boolean; readonly dataDir: string; readonly logger: Logger },
): Promise<ToldSecret> {
  if (where.isTerminal) return { file: null, secret };
  const file = join(where.dataDir, name);
  try {
    // With other places for everything, nothing else may have made the folder.
    await mkdir(where.dataDir, { recursive: true, mode: PRIVATE_FOLDER });
    // Written beside it: a file of the same name may have other rights, or be a link.
    const part = `${file}.part`;
    await writeFile(part, `${secret}\n`, { mode: PRIVATE_FILE });
    await chmod(part, PRIVATE_FILE);
    await rename(part, file);
  } catch (error) {
    throw cannotWrite(file, error);
  }
  const what = { 'api-key': 'the API key of the first start', 'sign-in-link': 'a link that signs in once' }[
    name
  ];
  where.logger.info({ file }, `${what} was written to a file that only its owner can read`);
  return { file, secret };
}
