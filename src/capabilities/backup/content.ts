import type { ContentHash } from '../../core/model/ids.ts';
import type { Blob } from '../../core/ports/blobs.ts';
import type { PortableRow } from '../../core/ports/store-copy.ts';
import type { BackupBegin, Figures } from './backup-parts.ts';

export interface RowBatch {
  readonly table: string;
  readonly rows: readonly PortableRow[];
}

export interface BodyBatch {
  readonly bodies: readonly Blob[];
  /** Referred to, and not kept: lost before, or damaged. */
  readonly absent: readonly ContentHash[];
}

/** Everything of an installation: out of a backup, or out of another installation. */
export interface Content {
  readonly begin: BackupBegin;
  /** From the first body to the last, each time it is called. */
  bodies(): AsyncIterable<BodyBatch>;
  /** From the first row to the last, each time it is called. */
  rows(): AsyncIterable<RowBatch>;
  /** What rows and bodies must come to; of another installation, known once its rows and bodies have been read. */
  end(): Promise<Figures>;
}
