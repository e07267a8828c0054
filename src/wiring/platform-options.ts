import type { Settings } from '../core/config/settings.ts';
import type { Logger } from '../core/observe/logger.ts';
import type { Metrics } from '../core/observe/metrics.ts';
import type { StorePlace } from './storage.ts';

/** What a process of Scrapifie is opened with. */
export interface OpenPlatformOptions {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** URLs of this very server that may be fetched although its address is refused. */
  readonly ownPages?: () => readonly string[];
  /**
   * Where sessions and credentials are, when not with the jobs: a command that works in a folder of its own uses those of
   * the installation, beside servers that work there. A session is stored by its version, so that processes lose nothing
   * of each other.
   */
  readonly accountsIn?: StorePlace;
  /** After which time monitors look again at pages that a check was not sure of; left out: as a server does. */
  readonly recheckMs?: number;
  /** False: the caller writes the exports of its jobs. */
  readonly writesExports?: boolean;
}
