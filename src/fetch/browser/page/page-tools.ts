import type { Page } from 'patchright-core';
import type { BlockedKind } from '../../../core/model/plain-options.ts';
import type { BrowserStorage, CapturedXhr } from '../../../core/model/render.ts';
import type { BrowserRequest, Redirect } from '../../engine.ts';
import type { RequestGuard } from '../../guard/guarded-lookup.ts';
import type { ProxyLogin } from '../../guard-proxy/guard-proxy.ts';
import type { Body } from '../../http/body-buffer.ts';
import type { ArrangeHeaders, DocumentResponse, DocumentWithoutPage } from './main-document.ts';
import type { NetworkLimits } from './network-record.ts';
import type { PageLoad } from './page-load.ts';

/**
 * What one attempt needs of a page besides Playwright. There are two implementations: one uses Chromium's protocol, the other
 * only Playwright's interface, for browsers behind a Playwright server, which may be of any kind.
 */
export interface PageTools {
  readonly document: DocumentWatch;
  readonly network: NetworkActivity;
  /** Blocks requests of these kinds until the next call. */
  block(kinds: readonly BlockedKind[]): Promise<void>;
  /** Replaces the local storage of the named origins; that of other origins in a warm context stays. */
  setLocalStorage(storage: BrowserStorage['localStorage']): Promise<StorageFill>;
  readonly evaluate: Evaluate;
  /** Whether an earlier document of this attempt is behind the present one. */
  canGoBack(): Promise<boolean>;
  /** The body of the document's response; null when it is gone or larger. */
  readRaw(answer: DocumentResponse, maxBytes: number): Promise<Body | null>;
  /** The page has followed a redirect that it must not: it must not be read or used again. */
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

/** The state of the page's document, read by the attempt. */
export interface DocumentWatch {
  /** The redirects that the page has followed. */
  readonly redirects: readonly Redirect[];
  /** Settles when there is no page to wait for: a body was read, a redirect not followed, or a rule broken. */
  readonly ended: Promise<DocumentWithoutPage>;
  readonly answer: DocumentResponse | null;
  /** The target of a navigation of the page that was refused. */
  readonly refusedTarget: string | null;
  /** Resolves when that happens: such a page may never finish loading. */
  readonly isStopped: Promise<null>;
  /** The last requested URL of the document. */
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
  /** Asks the owner of the request, with the clocks stopped. */
  readonly ask: (target: string, hop: number) => Promise<'follow' | 'stop'>;
  readonly arrange?: ArrangeHeaders | undefined;
  /** Checks each request; null when the proxy does so. */
  readonly guard: RequestGuard | null;
  readonly isDisguised: boolean;
  /** Sent to the guard's proxy, and to no site. */
  readonly proxyLogin: ProxyLogin | null;
  readonly limits: NetworkLimits;
  /** Counts the bytes that the page receives. */
  readonly load: PageLoad;
}
