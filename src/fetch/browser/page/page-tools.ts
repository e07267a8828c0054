import type { Page } from 'patchright-core';
import type { BlockedKind, BrowserStorage, CapturedXhr } from '../../../model/render.ts';
import type { Redirect } from '../../engine.ts';
import type { RequestGuard } from '../../guard/request-guard.ts';
import type { ProxyLogin } from '../../guard-proxy/guard-proxy.ts';
import type { Body } from '../../http/body-buffer.ts';
import type { BrowserRequest } from '../../render-engine.ts';
import type { ArrangeHeaders } from './document-gate.ts';
import type { DocumentResponse, DocumentWithoutPage } from './document-progress.ts';
import type { NetworkLimits } from './network-record.ts';
import type { PageLoad } from './page-load.ts';

/**
 * What one attempt needs of a page besides Playwright. There are two sets: one speaks to Chromium itself, the other
 * makes do with Playwright's interface, for browsers behind a Playwright server, which may be of any kind.
 */
export interface PageTools {
  readonly document: DocumentWatch;
  readonly network: NetworkActivity;
  /** Keeps these from being asked for, until the next attempt says otherwise. */
  block(kinds: readonly BlockedKind[]): Promise<void>;
  /** An origin that is named has exactly what is given for it; what a warm context has of others stays. */
  setLocalStorage(storage: BrowserStorage['localStorage']): Promise<StorageFill>;
  readonly evaluate: Evaluate;
  /** The document as it came; null when that is not known any more or is larger. */
  readRaw(answer: DocumentResponse, maxBytes: number): Promise<Body | null>;
  /** The page could not be kept from going where it was not wanted: it must not be read or used again. */
  readonly isTainted: boolean;
  end(): void;
}

/** Runs a function in the page, where its scripts see nothing of it; it must need nothing but its argument. */
export type Evaluate = <Argument, Result>(
  work: (argument: Argument) => Result | Promise<Result>,
  argument: Argument,
) => Promise<Result>;

/** Local storage that waits for the pages it belongs to. */
export interface StorageFill {
  /** The page shows this origin now: from here on its storage is what its scripts make of it. */
  arrivedAt(origin: string): void;
  end(): void;
}

/** Follows the page's document from URL to URL. */
export interface DocumentWatch {
  /** Those that were followed. */
  readonly redirects: readonly Redirect[];
  /** Settles when there is no page to wait for: a body was read, a redirect not followed, or a rule broken. */
  readonly ended: Promise<DocumentWithoutPage>;
  readonly answer: DocumentResponse | null;
  /** Where the page itself wanted to go and was not let. */
  readonly refusedTarget: string | null;
  /** Settles when that happens: such a page may wait for what will never come. */
  readonly isStopped: Promise<null>;
  /** Where the document was last looked for. */
  readonly lastTarget: string | null;
  /** While the page is leaving for another document; settles when that has arrived or failed. */
  readonly leaving: Promise<void> | null;
  /** The page has a new document. */
  onArrival(): void;
}

export interface NetworkActivity {
  readonly wireBytes: number;
  readonly protocol: string;
  readonly errors: readonly string[];
  /** Requests of the page's scripts, and for scripts, that have not been answered. */
  readonly pending: number;
  /** What was captured, the bodies that are still being read included. */
  xhr(): Promise<readonly CapturedXhr[]>;
}

export interface ToolOptions {
  readonly page: Page;
  readonly request: BrowserRequest;
  /** Asks whoever decides, with the clock held. */
  readonly ask: (target: string, hop: number) => Promise<'follow' | 'stop'>;
  readonly arrange?: ArrangeHeaders | undefined;
  /** Null where nothing forbidden can be reached anyway. */
  readonly guard: RequestGuard | null;
  readonly isDisguised: boolean;
  /** Sent to the guard's proxy, and to no site. */
  readonly proxyLogin: ProxyLogin | null;
  readonly limits: NetworkLimits;
  /** Told of everything that the page receives. */
  readonly load: PageLoad;
}
