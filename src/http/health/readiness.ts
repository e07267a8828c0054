import { ERRORS, type ErrorCode } from '../../core/errors/registry.ts';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';

/** Something that this process depends on. */
export interface Part {
  /** Really uses the part and throws when that does not work. */
  check(): Promise<void>;
  /** Whether this process is of no use without it. One without which it goes on is degraded, not failing. */
  readonly isEssential: boolean;
  /** Why a part that works is not as it should be; null when it is. */
  degradation?(): string | null;
  /** Details of a part that works; public. */
  note?(): string | null;
}

/** The result of probing a part. Public, except for `reason`. */
export interface PartReport {
  readonly status: 'ok' | 'degraded' | 'failing';
  readonly ms: number;
  readonly code?: ErrorCode;
  readonly message?: string;
  /** What exactly happened, with addresses and paths: for the log. */
  readonly reason?: string;
}

export interface Readiness {
  /** No part is failing. */
  readonly isReady: boolean;
  readonly parts: Readonly<Record<string, PartReport>>;
}

export interface ReadinessOptions {
  readonly parts: Readonly<Record<string, Part>>;
  /** Time limit for the check of one part. */
  readonly limitMs?: number;
  /** Results are cached for this long: a probe writes, and the endpoint is public. */
  readonly freshMs?: number;
  readonly now: () => number;
}

/** What browsers are known to do, as a part of the process: failing while no page can be opened. */
export function browserPart(
  health: () => Promise<{
    readonly state: 'ok' | 'degraded' | 'failing';
    readonly code: ErrorCode | null;
    readonly reason: string | null;
    readonly note?: string | null;
  }>,
  isEssential: boolean,
): Part {
  let degradation: string | null = null;
  let note: string | null = null;
  return {
    isEssential,
    async check() {
      const { state, code, reason, ...more } = await health();
      note = more.note ?? null;
      degradation = state === 'degraded' ? reason : null;
      if (state === 'failing') {
        throw new ScrapifieError(code ?? 'BROWSER_UNAVAILABLE', reason ?? 'no page can be opened');
      }
    },
    degradation: () => degradation,
    note: () => note,
  };
}

type TryPart = () => Promise<PartReport>;

/** Tries all parts at once, each with its own time limit. However many ask, each part is tried once at a time. */
export function createReadiness(options: ReadinessOptions): () => Promise<Readiness> {
  const { limitMs = 2_000, freshMs = 500, now } = options;
  const tries = Object.entries(options.parts).map(([name, part]): [string, TryPart] => [
    name,
    tryPart(part, limitMs, now),
  ]);
  let latest: Promise<Readiness> | null = null;
  let freshUntil = Number.NEGATIVE_INFINITY;

  async function tryAll(): Promise<Readiness> {
    const reports = await Promise.all(tries.map(async ([name, tryIt]) => [name, await tryIt()] as const));
    freshUntil = now() + freshMs;
    const isReady = reports.every(([, { status }]) => status !== 'failing');
    return { isReady, parts: Object.fromEntries(reports) };
  }

  return () => {
    if (latest === null || now() >= freshUntil) {
      // While it runs it is shared, however long it takes.
      freshUntil = Number.POSITIVE_INFINITY;
      latest = tryAll();
    }
    return latest;
  };
}

function tryPart(part: Part, limitMs: number, now: () => number): TryPart {
  /** A check that ran out of time and still has not ended is waited for again, not made again. */
  let checking: Promise<void> | null = null;

  return async () => {
    const startedAt = now();
    checking ??= part.check().finally(() => {
      checking = null;
    });
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new LateError(limitMs)), limitMs);
    try {
      await Promise.race([checking, late]);
      const reason = part.degradation?.() ?? null;
      const ms = now() - startedAt;
      const note = part.note?.() ?? null;
      if (reason === null) return { status: 'ok', ms, ...(note === null ? {} : { message: note }) };
      return { status: 'degraded', ms, message: 'Works, but not as it should; the log says why.', reason };
    } catch (error) {
      const status = part.isEssential ? 'failing' : 'degraded';
      return { status, ms: now() - startedAt, ...tellOf(error) };
    } finally {
      clearTimeout(timer);
    }
  };
}

class LateError extends Error {
  constructor(limitMs: number) {
    super(`No answer within ${limitMs} ms.`);
  }
}

/** The endpoint is public, so the result carries no addresses, users or paths. */
function tellOf(error: unknown): Pick<PartReport, 'code' | 'message' | 'reason'> {
  const reason = error instanceof Error ? error.message : String(error);
  if (isScrapifieError(error)) return { code: error.code, message: ERRORS[error.code].meaning, reason };
  return { message: error instanceof LateError ? reason : 'Does not work; the log says why.', reason };
}
