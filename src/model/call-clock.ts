/** The remaining time of a call. It stands still while a question to the caller is open. */
export class CallClock {
  private readonly onLate: () => void;
  private leftMs: number;
  private startedAt = 0;
  private timer: NodeJS.Timeout | null = null;
  private holds = 0;
  private isOver = false;

  constructor(timeoutMs: number, onLate: () => void) {
    this.onLate = onLate;
    this.leftMs = timeoutMs;
    this.start();
  }

  get remainingMs(): number {
    return Math.max(0, this.timer === null ? this.leftMs : this.leftMs - this.passedMs);
  }

  async hold<T>(work: () => Promise<T>): Promise<T> {
    this.holds += 1;
    if (this.holds === 1) this.pause();
    try {
      return await work();
    } finally {
      this.holds -= 1;
      if (this.holds === 0) this.start();
    }
  }

  end(): void {
    this.pause();
    this.isOver = true;
  }

  private get passedMs(): number {
    return performance.now() - this.startedAt;
  }

  private start(): void {
    if (this.isOver) return;
    this.startedAt = performance.now();
    this.timer = setTimeout(this.onLate, this.leftMs);
  }

  private pause(): void {
    if (this.timer === null) return;
    clearTimeout(this.timer);
    this.timer = null;
    this.leftMs = Math.max(0, this.leftMs - this.passedMs);
  }
}
