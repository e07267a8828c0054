import type { FilePlace } from '../capabilities/backup/installation.ts';
import type { Files } from '../core/ports/files.ts';
import { createFilesFs } from '../drivers/files-fs/files-fs.ts';

/** Files in a folder, or in an object store, whose client is loaded with the first of them. */
export async function openFiles(place: FilePlace): Promise<Files> {
  if ('folder' in place) return createFilesFs(place.folder);
  const { createFilesS3 } = await import('../drivers/blobs-s3/files-s3.ts');
  return createFilesS3(place.s3Url);
}
