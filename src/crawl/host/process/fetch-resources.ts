import type { Credentials } from '../../../capabilities/sessions/credentials.ts';
import type { Sessions } from '../../../capabilities/sessions/sessions.ts';
import type { ErrorCode } from '../../../core/errors/registry.ts';
import type { EngineName } from '../../../core/model/attempt.ts';
import type { Identity, IdentityKind, OtherBrowser } from '../../../core/model/identity.ts';
import type { ProxyEndpoint } from '../../../core/model/proxy.ts';
import type { HumanManner } from '../../../core/model/render.ts';
import type { ByteBudget } from '../../../fetch/byte-budget.ts';
import type { Engine } from '../../../fetch/engine.ts';
import type { Installation } from '../../plan/ladder/fetch-methods.ts';
import type { ProxyPool } from '../../plan/proxies/proxy-pool.ts';
import type { StoredPages } from './stored-pages.ts';

/** The render workers, or the browsers of this process, are away: pages that need them wait. */
export interface RendererAway {
  readonly code: Extract<ErrorCode, 'NO_WORKER' | 'BROWSER_UNAVAILABLE'>;
  /** How long they have been away. */
  readonly forMs: number;
}

/** Engines, proxies, sessions and identities available to this process. */
export interface FetchResources {
  /** Everything is answered from an archive: no host is asked, so there is nothing to be polite about. Missing: false. */
  readonly isReplay?: boolean;
  /** Limits the bytes of responses that all attempts of this process hold together. */
  readonly budget: ByteBudget;
  /** The engines and proxy tiers that can be used at the moment; the same object as long as nothing changes. */
  installation(): Installation;
  /**
   * Discovers engines that are looked for only when an attempt may need one. Afterwards `installation` has them.
   */
  discover(): Promise<void>;
  /** Why no browser of this installation shows pages for the engine at the moment; null: one does, or that is unknown. */
  awayOf(name: EngineName): RendererAway | null;
  /** Only for engines of the installation. */
  engine(name: EngineName, identity: IdentityKind): Engine;
  /** Null when no proxies are set up. */
  readonly proxies: Pick<ProxyPool, 'choose' | 'ended'> | null;
  /** The caller's own proxy. Throws VALIDATION_FAILED for an invalid URL. */
  ownProxy(url: string): ProxyEndpoint;
  readonly sessions: Pick<Sessions, 'begin' | 'end'>;
  readonly credentials: Pick<Credentials, 'forSession'>;
  /** Missing: no stored page is used again. */
  readonly stored?: StoredPages;
  /** How disguised browsers act, unless the policy of a host says otherwise. */
  readonly manner: HumanManner;
  /** A seed and region give one identity, as long as the browser stays the same. */
  identity(seed: string, region: string | null, family?: OtherBrowser): Promise<Identity>;
}
