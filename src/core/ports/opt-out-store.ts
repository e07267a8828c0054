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
