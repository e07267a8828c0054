import type { PluginPart } from '../config/plugin-part.ts';
import type { ErrorCode } from '../errors/registry.ts';
import type { IdentityKind } from './identity.ts';
import type { AttemptReason } from './reasons.ts';

/** The engines that send requests to hosts; `replay` reads an archive instead. */
export const WEB_ENGINES = ['http', 'browser', 'flaresolverr', 'stealth', 'firecrawl'] as const;
export const ENGINE_NAMES = [...WEB_ENGINES, 'replay'] as const;
/**
 * From cheap to dear. `flaresolverr` is a service of that name, which the operator runs; `firecrawl` is a
 * Firecrawl-compatible API elsewhere. `replay` answers from an archive,
 * in place of all others.
 */
export type OwnEngineName = (typeof ENGINE_NAMES)[number];
/** The name of an engine; a name with a colon is that of an engine of a plug-in. */
export type EngineName = OwnEngineName | PluginPart;

export const OUTCOME_KINDS = [
  'ok',
  'soft-404',
  'blocked',
  'captcha',
  'login-wall',
  'needs-javascript',
  'rate-limited',
  'empty',
  'error',
] as const;
/** What a response turned out to be. Everything but `ok` comes with the evidence that decided. */
export type OutcomeKind = (typeof OUTCOME_KINDS)[number];

/** One try at one URL, kept in the task's trace. */
export interface Attempt {
  readonly engine: EngineName;
  readonly proxyTier: string | null;
  /** The proxy by its id, as in `GET /v1/proxies`; `own/…` for one of the caller's. Missing without a proxy. */
  readonly proxyId?: string;
  /** Missing: as honest as the engine can be. */
  readonly identity?: IdentityKind;
  /** A solver service was allowed to help. */
  readonly hasSolver?: boolean;
  /** Why this attempt was made this way. */
  readonly reason: AttemptReason;
  readonly outcome: OutcomeKind;
  /** What decided the outcome, when it is not plainly ok. */
  readonly evidence?: string;
  /** Whose block or challenge it is, where that is known. */
  readonly vendor?: string;
  readonly errorCode?: ErrorCode;
  /**
   * The page led on to another host, by a redirect or by its script, and the task went there. Such an attempt is none
   * that failed, and says nothing about the host it led to.
   */
  readonly ledOn?: true;
  /** For an attempt that led on, the URLs that answered with redirects, in order. */
  readonly redirects?: readonly { readonly url: string; readonly statusCode: number }[];
  /** How much was read, where that helps to judge whether rendering is worth it. */
  readonly yield?: PageYield;
  readonly statusCode: number | null;
  /** Between the claim of the task and the request: waits for robots.txt, for the host's gate, and for a free place. */
  readonly waitedMs?: number;
  readonly ms: number;
  /**
   * The pause before the next attempt, where it counts towards the time limit of the task: one that the host or a
   * proxy asked for does not.
   */
  readonly pauseMs?: number;
  readonly bytes: number;
  /** What was used beside the request itself; missing when nothing was. */
  readonly extras?: AttemptExtras;
  /** What the attempt costs; missing: nothing, or of an earlier version. */
  readonly microcredits?: number;
  readonly at: string;
}

export interface AttemptExtras {
  /** Tokens of the questions to a language model and of its answers together. */
  readonly tokens?: number;
  /** Puzzles that a solver service was paid for. */
  readonly solverCalls?: number;
  readonly screenshots?: number;
  readonly pdfs?: number;
}

export interface PageYield {
  /** Characters of visible text. */
  readonly textLength: number;
  readonly linkCount: number;
}
