import { createHash } from 'node:crypto';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Export } from '../../core/model/export.ts';
import type { ExportEnd, ExportProgress } from '../../core/ports/export-store.ts';
import type { Files } from '../../core/ports/files.ts';
import type { Store } from '../../core/ports/store.ts';
import { type ExportParts, exportBytes } from './export-bytes.ts';
import { fileOf, nameForPeople, removeFiles } from './export-file.ts';

export interface WriteParts extends ExportParts {
  readonly store: ExportParts['store'] & Pick<Store, 'getJob'>;
  /** Where the files of exports are. */
  readonly files: Files;
  /** The operator's place that gets a copy; null: none does. */
  readonly target: Files | null;
  readonly onProgress: (progress: ExportProgress) => void;
}

/**
 * Writes the file of a claimed export. The file is there whole or not at all; files of earlier attempts are removed first.
 * Throws NOT_FOUND when the job is gone, EXPIRED when its pages are, and what reading and writing throw.
 */
export async function writeExport(claimed: Export, parts: WriteParts): Promise<ExportEnd> {
  const { store, files, target, onProgress } = parts;
  const job = await store.getJob(claimed.jobId);
  if (job === null) throw new ScrapifieError('NOT_FOUND', `There is no job ${claimed.jobId}.`);
  await removeFiles({ ...claimed, attempts: claimed.attempts - 1 }, files);
  const digest = createHash('sha256');
  let [rows, sizeBytes] = [0, 0];
  const { spec, createdAt } = claimed;
  const bytes = exportBytes(
    {
      job,
      spec,
      createdAt,
      onRows: (more) => {
        rows += more;
        onProgress({ rows, sizeBytes });
      },
    },
    parts,
  );
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      digest.update(chunk);
      sizeBytes += chunk.length;
      onProgress({ rows, sizeBytes });
      yield chunk;
    }
  }
  const name = fileOf(claimed);
  await files.write(name, counted());
  if (target !== null) {
    const copy = nameForPeople(claimed, job);
    // Its name has the id of the export: only an earlier attempt can have written it.
    await target.remove(copy);
    await target.write(copy, files.read(name));
  }
  return { rows, sizeBytes, sha256: digest.digest('hex') };
}
