import type { CapturedXhr } from '../../../core/model/render.ts';
import { settlesWithin } from '../../deadline.ts';
import type { NetworkActivity } from './page-tools.ts';

export interface NetworkLimits {
  readonly maxXhr: number;
  readonly maxXhrBytes: number;
  readonly maxXhrTotalBytes: number;
  readonly maxErrors: number;
}

const MAX_ERROR_CHARS = 500;
const MAX_PENDING = 1_000;
/** For reading one body; a late one must not delay the others. */
const BODY_MS = 1_500;
/** For all of them together, when the page is read. */
const ALL_BODIES_MS = 2_000;

/** What one attempt records of a page's network: bytes, requests under way, captured responses and errors. */
export class NetworkRecord implements NetworkActivity {
  wireBytes = 0;
  protocol = 'http/1.1';
  readonly errors: string[] = [];
  readonly #limits: NetworkLimits;
  readonly #capturesXhr: boolean;
  readonly #awaited = new Set<unknown>();
  readonly #captured: Promise<CapturedXhr>[] = [];
  #capturedBytes = 0;

  constructor(limits: NetworkLimits, capturesXhr: boolean) {
    this.#limits = limits;
    this.#capturesXhr = capturesXhr;
  }

  get pending(): number {
    return this.#awaited.size;
  }

  xhr(): Promise<CapturedXhr[]> {
    return Promise.all(this.#captured);
  }

  /** A script, or a request of a script, is under way; `key` identifies it to `finish`. */
  begin(key: unknown): void {
    if (this.#awaited.size < MAX_PENDING) this.#awaited.add(key);
  }

  finish(key: unknown): void {
    this.#awaited.delete(key);
  }

  /** True while another response may be captured, besides those that are still under way. */
  mayCapture(underWay = 0): boolean {
    return this.#capturesXhr && this.#captured.length + underWay < this.#limits.maxXhr;
  }

  capture(reading: Promise<CapturedXhr>): void {
    this.#captured.push(reading);
  }

  /** Adds the body to a response: null when it cannot be read in time, or exceeds a limit. */
  async withBody(
    exchange: Omit<CapturedXhr, 'body' | 'isTooLarge'>,
    reading: Promise<Uint8Array | null>,
  ): Promise<CapturedXhr> {
    const none: CapturedXhr = { ...exchange, body: null, isTooLarge: false };
    if (!(await settlesWithin(reading, BODY_MS))) return none;
    const body = await reading.catch(() => null);
    if (body === null) return none;
    const { maxXhrBytes, maxXhrTotalBytes } = this.#limits;
    if (body.length > maxXhrBytes || this.#capturedBytes + body.length > maxXhrTotalBytes) {
      return { ...none, isTooLarge: true };
    }
    this.#capturedBytes += body.length;
    return { ...none, body };
  }

  report(error: string): void {
    if (this.errors.length < this.#limits.maxErrors) this.errors.push(error.slice(0, MAX_ERROR_CHARS));
  }

  end(): void {
    this.#awaited.clear();
  }
}

/** What was captured; nothing when it cannot be read in time. */
export async function readXhr(network: NetworkActivity): Promise<readonly CapturedXhr[]> {
  const reading = network.xhr();
  return (await settlesWithin(reading, ALL_BODIES_MS)) ? reading : [];
}
