import { randomBytes } from 'node:crypto';
import { parse } from 'tldts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { HostKey } from '../../core/model/ids.ts';
import type { Logger } from '../../core/observe/logger.ts';
import type { Bus } from '../../core/ports/bus.ts';
import type { OwnerDemand, OwnerRequest } from '../../core/ports/site-owner-store.ts';
import type { Store } from '../../core/ports/store.ts';
import { invalidRequest } from '../jobs/request/invalid-request.ts';
import type { DomainProof } from './domain-proof.ts';

/** What the owner of a site may ask of this installation, and how it comes into force once the site is proved. */
export interface OwnerRequests {
  /** Throws VALIDATION_FAILED for a host that has no single owner, RATE_LIMITED when too many wait to be proved. */
  create(input: OwnerInput): Promise<OwnerRequest>;
  /** Throws NOT_FOUND when there is none, or when it expired. */
  get(id: string): Promise<OwnerRequest>;
  /**
   * Looks for the proof, and puts the request into force when it is there: at once, for every account. `seen` tells
   * what was found instead.
   */
  check(id: string): Promise<{ readonly request: OwnerRequest; readonly seen: readonly string[] }>;
}

export interface OwnerInput {
  readonly host: HostKey;
  readonly demand: OwnerDemand;
  readonly contact: string | null;
  readonly message: string | null;
}

export interface OwnerRequestsDeps {
  readonly store: Pick<
    Store,
    | 'addOwnerRequest'
    | 'getOwnerRequest'
    | 'proveOwnerRequest'
    | 'addOptOut'
    | 'listOptOuts'
    | 'audit'
    | 'clock'
  >;
  readonly bus: Pick<Bus, 'publish'>;
  readonly proof: DomainProof;
  readonly logger: Pick<Logger, 'info'>;
}

const DAYS = 14;
const LIFE_MS = DAYS * 86_400_000;
const LIMITS = { perHost: 20, total: 10_000 };
const RETRY_AFTER_MS = 3_600_000;
/** Proofs looked for at once: each is three requests to a host that a stranger named. */
const MOST_CHECKS = 8;

export function createOwnerRequests(deps: OwnerRequestsDeps): OwnerRequests {
  const { store, bus, proof, logger } = deps;
  /** Checks under way, by request: a second one waits for the first. */
  const checks = new Map<string, Promise<{ request: OwnerRequest; seen: readonly string[] }>>();

  async function get(id: string): Promise<OwnerRequest> {
    const request = await store.getOwnerRequest(id);
    if (request === null) {
      throw new ScrapifieError(
        'NOT_FOUND',
        `There is no such request, or it was not proved within ${DAYS} days.`,
      );
    }
    return request;
  }

  async function look(id: string): Promise<{ request: OwnerRequest; seen: readonly string[] }> {
    const request = await get(id);
    if (request.proved !== null) return { request, seen: [] };
    const found = await proof.find(request.host, request.token);
    if (found.by === null) return { request, seen: found.seen };
    // In this order: a crash in between leaves a request that can be checked again, never one that is proved in vain.
    await enforce(request, found.by);
    await store.proveOwnerRequest(id, found.by);
    return { request: await get(id), seen: [] };
  }

  async function enforce(request: OwnerRequest, by: string): Promise<void> {
    const { host, demand, contact } = request;
    const at = await store.clock();
    const minDelayMs = demand.kind === 'slower' ? demand.secondsBetweenRequests * 1_000 : null;
    const earlier = (await store.listOptOuts()).find((each) => each.host === host);
    const isStopped = earlier !== undefined && earlier.minDelayMs === null;
    // A request for a slower rate does not open a host that is closed.
    if (!isStopped || minDelayMs === null) {
      await store.addOptOut({ host, reason: 'site owner’s request, proved', contact, at, minDelayMs });
      bus.publish('policy.changed', {});
    }
    const details = { demand: demand.kind, by, ...(minDelayMs !== null && { minDelayMs }) };
    await store.audit([{ at, actor: 'site-owner', action: 'domain.owner-request', target: host, details }]);
    logger.info({ host, ...details }, 'a site owner’s request is in force');
  }

  return {
    get,

    async create({ host, demand, contact, message }) {
      if (!hasOneOwner(host)) {
        throw invalidRequest([
          { field: 'host', message: 'Many owners share this name; name the host of your own site.' },
        ]);
      }
      const createdAt = await store.clock();
      const request = {
        id: randomBytes(18).toString('base64url'),
        host,
        demand,
        token: randomBytes(18).toString('base64url'),
        contact,
        message,
        createdAt,
        expiresAt: createdAt + LIFE_MS,
      };
      if (!(await store.addOwnerRequest(request, LIMITS))) {
        throw new ScrapifieError(
          'RATE_LIMITED',
          'Too many requests wait for their proof. Prove one of them, or try again later.',
          { retryAfterMs: RETRY_AFTER_MS },
        );
      }
      return { ...request, proved: null };
    },

    check(id) {
      const underWay = checks.get(id);
      if (underWay !== undefined) return underWay;
      if (checks.size >= MOST_CHECKS) {
        return Promise.reject(
          new ScrapifieError('RATE_LIMITED', 'Too many proofs are being looked for.', {
            retryAfterMs: 10_000,
          }),
        );
      }
      const check = look(id).finally(() => checks.delete(id));
      checks.set(id, check);
      return check;
    },
  };
}

/** False for public suffixes (`com`, `co.uk`, `github.io`), under which anyone can have a site. */
function hasOneOwner(host: string): boolean {
  const { hostname, publicSuffix, isIp } = parse(host, { allowPrivateDomains: true });
  return isIp === true || (hostname !== null && hostname !== publicSuffix) || hostname === 'localhost';
}
