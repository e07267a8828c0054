import type { ByteBudget } from '../fetch/byte-budget.ts';
import type { Engine } from '../fetch/engine.ts';
import type { EngineName } from '../model/attempt.ts';
import type { Identity, IdentityKind } from '../model/identity.ts';
import type { ProxyEndpoint } from '../model/proxy.ts';
import type { Installation } from '../plan/ladder/possible-methods.ts';
import type { ProxyPool } from '../plan/proxies/proxy-pool.ts';
import type { Credentials } from '../sessions/credentials.ts';
import type { Sessions } from '../sessions/sessions.ts';

/** With what this process makes attempts. */
export interface FetchResources {
  /** What all attempts of this process may hold of responses. */
  readonly budget: ByteBudget;
  /** What can be used at the moment; the same object as long as nothing changes. */
  installation(): Installation;
  /**
   * Finds out what else there is: engines that are looked for only when somebody may need one. Afterwards
   * `installation` has them.
   */
  discover(): Promise<void>;
  /** Only for engines of the installation. */
  engine(name: EngineName, identity: IdentityKind): Engine;
  /** Null: no proxies are set up. */
  readonly proxies: Pick<ProxyPool, 'choose' | 'ended'> | null;
  /** The caller's own proxy. Throws VALIDATION_FAILED for what is none. */
  ownProxy(url: string): ProxyEndpoint;
  readonly sessions: Pick<Sessions, 'begin' | 'end'>;
  readonly credentials: Pick<Credentials, 'forSession'>;
  /** The same for the same seed and region, as long as the browser stays the same. */
  identity(seed: string, region: string | null): Promise<Identity>;
}
