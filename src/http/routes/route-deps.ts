import type { McpServer } from '@modelcontextprotocol/server';
import type { FastifyBaseLogger } from 'fastify';
import type { KeyDirectory } from '../../capabilities/accounts/key-directory.ts';
import type { SignIns } from '../../capabilities/accounts/sign-ins.ts';
import type { Capabilities } from '../../capabilities/capabilities.ts';
import type { Settings } from '../../core/config/settings.ts';
import type { HostKey } from '../../core/model/ids.ts';
import type { HostPolicy } from '../../core/model/policy.ts';
import type { Activity } from '../../core/observe/loop-watch.ts';
import type { Metrics } from '../../core/observe/metrics.ts';
import type { Blobs, Files } from '../../core/ports/blobs.ts';
import type { Bus } from '../../core/ports/bus.ts';
import type { Limits } from '../../core/ports/limits.ts';
import type { Store } from '../../core/ports/store.ts';
import type { PoolFigures } from '../../crawl/plan/proxies/fleet-figures.ts';
import type { Authentication } from '../access/access.ts';
import type { DashboardPages } from '../dashboard/dashboard-files.ts';
import type { Readiness } from '../health/readiness.ts';
import type { SystemParts } from '../health/system-parts.ts';
import type { App } from '../server/app.ts';
import type { Idempotency } from '../server/kept-answers.ts';

/** How hosts are treated, for showing. */
export interface PolicyView {
  policyFor(host: HostKey): HostPolicy;
  /** The rule that denies the host; null when none does. */
  denied(host: HostKey): { readonly rule: string } | null;
}

export interface ApiDeps extends Capabilities {
  /** The bodies of pages. */
  readonly blobs: Blobs;
  /** The files of exports. */
  readonly exportFiles: Files;
  /** Where it is a server, see `watchStore`: `jobs` and this then share the watched one. */
  readonly store: Store;
  readonly bus: Bus;
  /** Counts the requests of each key. */
  readonly limits: Limits;
  readonly settings: Settings;
  readonly logger: FastifyBaseLogger;
  readonly metrics: Pick<
    Metrics,
    'httpRequest' | 'connectionClosed' | 'observeUnread' | 'observeRequestBytes' | 'loginFailed' | 'scrape'
  >;
  /** Where requests under way are named, for the log line of a blocked event loop. */
  readonly activity?: Activity;
  readonly readiness: () => Promise<Readiness>;
  /**
   * Whether the process was told to stop: then `/readyz` says so and every response ends its connection, while requests are
   * still answered. Left out: never.
   */
  readonly isStopping?: () => boolean;
  readonly policies: PolicyView;
  /** What the proxies of this process have done so far; null when it has none. */
  readonly proxyFigures?: () => PoolFigures | null;
  /** What is known of the process and its installation; left out: this process alone, without a log. */
  readonly system?: SystemParts;
  readonly version: string;
  readonly now: () => number;
  /** Adds to each MCP server what the conformance suite of the protocol asks for; only tests give it. */
  readonly extendMcp?: (server: McpServer) => void;
  /** Adds the routes of APIs of other shapes. */
  readonly addOtherRoutes?: (app: App, deps: RouteDeps) => void;
  /** Whether a WebSocket may be opened at this path; those that `addOtherRoutes` handles. */
  readonly upgrades?: (url: string) => boolean;
  /** The folder of the built dashboard; that of this project when left out. */
  readonly dashboardDir?: string;
  /** A part of a fleet that is no API tells only how it does: health, readiness and metrics. */
  readonly onlyOperations?: boolean;
}

/** What the routes get that commands on a data folder call in their own process, too. */
export type SharedRouteDeps = Capabilities &
  Pick<RouteDeps, 'store' | 'exportFiles' | 'bus' | 'settings' | 'idempotency' | 'dashboard' | 'now'> & {
    readonly keys: Pick<KeyDirectory, 'isValid'>;
    readonly metrics: Pick<Metrics, 'connectionClosed'>;
    /** How often streams of events look at the store; left out: as often as the bus makes it necessary. */
    readonly eventPollMs?: number;
  };

/** What every file in routes/ gets. */
export interface RouteDeps extends ApiDeps {
  readonly keys: KeyDirectory;
  readonly idempotency: Idempotency;
  /** The parts of the dashboard; null when the settings switch it off. */
  readonly dashboard: {
    readonly pages: DashboardPages;
    readonly signIns: SignIns;
    readonly authentication: Authentication;
  } | null;
}
