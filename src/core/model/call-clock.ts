/** The remaining time of a call. It stands still while a question to the caller is open. */
export class CallClock {
  readonly #onLate: () => void;
  #leftMs: number;
  #startedAt = 0;
  #timer: NodeJS.Timeout | null = null;
  #holds = 0;
  #isOver = false;

  constructor(timeoutMs: number, onLate: () => void) {
    this.#onLate = onLate;
    this.#leftMs = timeoutMs;
    this.#start();
  }

  get remainingMs(): number {
    return Math.max(0, this.#timer === null ? this.#leftMs : this.#leftMs - this.#passedMs);
  }

  async hold<T>(work: () => Promise<T>): Promise<T> {
    this.#holds += 1;
    if (this.#holds === 1) this.#pause();
    try {
      return await work();
    } finally {
      this.#holds -= 1;
      if (this.#holds === 0) this.#start();
    }
  }

  end(): void {
    this.#pause();
    this.#isOver = true;
  }

  get #passedMs(): number {
    return performance.now() - this.#startedAt;
  }

  #start(): void {
    if (this.#isOver) return;
    this.#startedAt = performance.now();
    this.#timer = setTimeout(this.#onLate, this.#leftMs);
  }

  #pause(): void {
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#leftMs = Math.max(0, this.#leftMs - this.#passedMs);
  }
}
