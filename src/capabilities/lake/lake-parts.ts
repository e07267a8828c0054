import type { Logger } from '../../core/observe/logger.ts';
import type { LakeFiles } from '../../core/ports/lake-files.ts';
import type { Store } from '../../core/ports/store.ts';
import type { LakeEncoder } from './lake-encoder.ts';

/** What the lake is made of. */
export interface LakeParts {
  readonly store: Store;
  readonly files: LakeFiles;
  readonly encoder: LakeEncoder;
  /** The current time by the store's clock. */
  readonly now: () => number;
  /** Random hexadecimal digits, at least 16. */
  readonly randomHex: () => string;
  readonly logger: Logger;
}
