import { resolve, sep } from 'node:path';
import type { ExportTarget } from '../../core/model/export.ts';
import { filePlaceOf } from '../backup/backup-ref.ts';
import type { FilePlace } from '../backup/installation.ts';

/** Where exports may be copied to, as the operator says. */
export interface ExportPlaces {
  /** Folders and `s3://bucket/path`, with commas between them. */
  readonly exportPlaces: string;
  /** The object store of those in buckets. */
  readonly exportS3Url?: string | undefined;
  readonly s3Url?: string | undefined;
}

const listed = (places: string): string[] =>
  places
    .split(',')
    .map((place) => place.trim())
    .filter((place) => place !== '');

/** The place for a copy; null when the operator has not named it or a folder that it is in. */
export function targetPlace(target: ExportTarget, settings: ExportPlaces): FilePlace | null {
  const asked = 'folder' in target ? target.folder : target.s3;
  const isAllowed = listed(settings.exportPlaces).some((place) => isWithin(asked, place));
  return isAllowed ? filePlaceOf(asked, process.cwd(), settings.exportS3Url ?? settings.s3Url) : null;
}

function isWithin(asked: string, place: string): boolean {
  const isBucket = asked.startsWith('s3://');
  if (isBucket !== place.startsWith('s3://')) return false;
  if (!isBucket) {
    const [inner, outer] = [resolve(asked), resolve(place)];
    return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : `${outer}${sep}`);
  }
  if (asked.split('/').some((part) => part === '..' || part === '.')) return false;
  const [inner, outer] = [asked, place].map((url) => `${url.replace(/\/+$/, '')}/`) as [string, string];
  return inner.startsWith(outer);
}
