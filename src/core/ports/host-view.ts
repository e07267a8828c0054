import type { HostKey } from '../model/ids.ts';
import type { HostState } from './store.ts';

/** A host as the API shows it. */
export interface HostView {
  readonly key: HostKey;
  readonly state: HostState;
  readonly ready: number;
  readonly owner: string | null;
  readonly nextAt: number | null;
}
