import type { ListPage } from './store.ts';

/** What the owner of a site asks of the crawler: not to come at all, or to leave more time between two requests. */
export type OwnerDemand =
  | { readonly kind: 'stop' }
  | { readonly kind: 'slower'; readonly secondsBetweenRequests: number };

export interface NewOwnerRequest {
  /** Known only to the site owner that made the request. */
  readonly id: string;
  /** Host name, with a port where one was given. */
  readonly host: string;
  readonly demand: OwnerDemand;
  /** What has to be published on the host to prove it. */
  readonly token: string;
  readonly contact: string | null;
  readonly message: string | null;
  readonly createdAt: number;
  /** A request that is not proved by then is forgotten. */
  readonly expiresAt: number;
}

export interface OwnerRequest extends NewOwnerRequest {
  /** When and how the host was proved; null while it is not. */
  readonly proved: { readonly at: number; readonly by: ProofMethod } | null;
}

/** A file on the host, or a TXT record in DNS. */
export type ProofMethod = 'file' | 'dns';

/** A part of the store: requests of site owners that came through the public page. */
export interface OwnerRequestStore {
  /**
   * Keeps a request. False when the store holds as many unproved requests as the limits allow, for this host or in all;
   * expired ones are forgotten first.
   */
  addOwnerRequest(request: NewOwnerRequest, limits: OwnerRequestLimits): Promise<boolean>;
  /** Null when there is none, or when it expired unproved. */
  getOwnerRequest(id: string): Promise<OwnerRequest | null>;
  /** Newest first, without those that expired unproved. */
  listOwnerRequests(query: OwnerRequestQuery): Promise<ListPage<OwnerRequest>>;
  /** Records the proof. False when there is no such request, or it is proved already. */
  proveOwnerRequest(id: string, by: ProofMethod): Promise<boolean>;
}

export interface OwnerRequestLimits {
  readonly perHost: number;
  readonly total: number;
}

export interface OwnerRequestQuery {
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** A part of the store: what owners of sites have asked for. */
export interface OptOutStore {
  /** Hosts that must not be crawled, or only slowly, with the reason. A host also covers its subdomains. */
  listOptOuts(): Promise<readonly OptOut[]>;
  /**
   * Records it, in place of an earlier one for the host. Without `minDelayMs` it takes every open task of the host and its
   * subdomains out of all jobs, as denied.
   */
  addOptOut(optOut: OptOut): Promise<void>;
  removeOptOut(host: string): Promise<boolean>;
}

export interface OptOut {
  readonly host: string;
  readonly reason: string;
  readonly contact: string | null;
  readonly at: number;
  /** The least time between two requests to the host; null: there must be none at all. */
  readonly minDelayMs: number | null;
}
