import type { ErrorCode } from '../../core/errors/registry.ts';
import type { OutcomeKind, PageYield } from '../../core/model/attempt.ts';
import type { Unanswered } from '../../core/model/extraction.ts';
import type { AccountId, Incarnation, JobSeq, TaskId, UrlKey } from '../../core/model/ids.ts';
import type { JobOptions, PageOptions } from '../../core/model/job.ts';
import type { JobKind } from '../../core/model/job-kinds.ts';
import type { NewPage, PageRedirect } from '../../core/model/page.ts';
import type { RenderExtra } from '../../core/model/render.ts';
import type { NewTask, TaskKind } from '../../core/model/task.ts';
import type { StoredMark } from '../../fetch/engine.ts';

/** The options of a job that matter for reading its pages. */
export type ReadOptions = Pick<PageOptions, 'formats' | 'extract' | 'parts' | 'maxPdfPages'> &
  Partial<Pick<PageOptions, 'session' | 'cookies' | 'headers'>>;

/** A response and the options by which it is read. Plain data: it is sent to another thread. */
export interface ReadRequest {
  /** The account that takes a turn at the threads; missing for what the program reads by itself. */
  readonly accountId?: AccountId | undefined;
  readonly job: {
    readonly seq: JobSeq;
    readonly kind: JobKind;
    readonly options: Pick<JobOptions, 'scope' | 'routes'> & { readonly page: ReadOptions };
    readonly seeds: readonly string[];
    /**
     * Readers report each URL once per generation. It changes when something they reported was not kept, so that
     * it is reported again.
     */
    readonly generation: number;
    /**
     * The incarnation of the store that `seq` and `task.id` are numbers of. What readers remember of a job is of one
     * incarnation.
     */
    readonly incarnation: Incarnation;
  };
  readonly task: {
    readonly id: TaskId;
    readonly kind: TaskKind;
    readonly url: string;
    readonly urlKey: UrlKey;
    readonly depth: number;
  };
  readonly response: {
    readonly finalUrl: string;
    readonly statusCode: number;
    readonly contentType: string | null;
    readonly headers: Readonly<Record<string, string | string[] | undefined>>;
    /** Given away: the reader owns it from here on, and frees its memory when the page is read. */
    readonly body: Uint8Array<ArrayBuffer>;
    /** The redirects of the whole task, on the way to this response. */
    readonly redirects?: readonly PageRedirect[] | undefined;
    /** Its cookies may be those of a log-in with stored credentials: their values are not kept. */
    readonly hasSecretCookies?: boolean | undefined;
    /** What a browser has shown of the page; its bytes are transferred like the body. */
    readonly rendered?: RenderedPage | undefined;
    readonly stored?: StoredMark | undefined;
  };
  readonly fetchedAt: number;
}

/** The parts of a rendered page beyond its document; storage for sessions is kept elsewhere. */
export interface RenderedPage {
  /** The document as the server sent it; null when that is not known, or is the body. */
  readonly rawBody: Uint8Array<ArrayBuffer> | null;
  readonly extra: Omit<RenderExtra, 'storage'>;
  /** Why the page was not rendered as requested; `details` may name the step. */
  readonly failure: { readonly code: ErrorCode; readonly message: string; readonly details?: unknown } | null;
}

/** Everything the ledger stores about the response, and its classification. */
export interface PageReading {
  readonly page: NewPage;
  /** URLs not reported before in this generation. */
  readonly discovered: readonly NewTask[];
  readonly outcome: OutcomeKind;
  readonly evidence: string | null;
  /** Whose block or challenge it is, where that is known. */
  readonly vendor: string | null;
  readonly isNoindex: boolean;
  /** Where a meta refresh of the page leads within seconds; null without one, and for pages that a browser has shown. */
  readonly leadsTo: string | null;
  /** How much there was to read. */
  readonly yield: PageYield;
  /** Required fields that are still to be found; only where the request wants them from a language model. */
  readonly unanswered?: Unanswered;
  /** Tokens that a language model was paid for; missing: none was asked, or its answer was known. */
  readonly tokens?: number;
  /** A sitemap that could not be read to its end, and why. */
  readonly sitemapProblem: string | null;
  /** Why the page could not be read. Its body is stored, and nothing else is known of its content. */
  readonly failure?: { readonly code: ErrorCode; readonly message: string };
  readonly ms: number;
}

/**
 * Reads pages: decodes, extracts, classifies, finds the next URLs, and keeps the body in the blob store before it
 * resolves, be it that the page can be read or not. A page that cannot be read has a `failure`; one that takes too long,
 * or ends its thread, is read a second time before, alone. Throws EXTRACTION_FAILED when not even the body could be
 * stored, and for a sitemap that cannot be read. A page whose body cannot be stored, because
 * the disk is full or the store is away, is held until it can: it was fetched, and must not be fetched again for that.
 */
export interface PageReader {
  read(request: ReadRequest): Promise<PageReading>;
  /** Resolves when it can read at once: starting takes a moment that no request should have to wait for. */
  readonly ready: Promise<void>;
  /** Pages handed in and not yet read. */
  readonly backlog: number;
  /** Pages are held because their bodies cannot be stored: no more should be fetched. */
  readonly isHolding: boolean;
  close(): Promise<void>;
}
