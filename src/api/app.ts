import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Settings } from '../config/settings.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { HostKey } from '../model/ids.ts';
import type { HostPolicy } from '../model/policy.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { Bus } from '../ports/bus.ts';
import type { Store } from '../ports/store.ts';
import type { Idempotency } from './idempotency.ts';
import type { KeyDirectory } from './key-directory.ts';
import type { Check } from './readiness.ts';

/** The server that routes are added to; what they parse is typed by their zod schemas. */
export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** How hosts are treated, for showing. */
export interface PolicyView {
  policyFor(host: HostKey): HostPolicy;
}

export interface ApiDeps {
  readonly jobs: Jobs;
  readonly store: Store;
  readonly bus: Bus;
  readonly settings: Settings;
  readonly logger: FastifyBaseLogger;
  readonly metrics: Pick<Metrics, 'httpRequest' | 'render' | 'contentType'>;
  readonly readiness: () => Promise<readonly Check[]>;
  readonly policies: PolicyView;
  readonly version: string;
  readonly now: () => number;
}

/** What every file in routes/ gets. */
export interface RouteDeps extends ApiDeps {
  readonly keys: KeyDirectory;
  readonly idempotency: Idempotency;
}
