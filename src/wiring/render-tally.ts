import type { RenderName } from '../fetch/remote/render-message.ts';

/** One page that browsers of this process were asked to show, when that is over. */
type RenderListener = (name: RenderName, isShown: boolean, ms: number) => void;

interface AskedRender {
  readonly name: RenderName;
  /** When the render was requested, in monotonic milliseconds. */
  readonly askedAt: number;
}

/** Counts the renders of a process. */
export class RenderTally {
  readonly #slots: number;
  /** In the order in which they were asked for; owned by the attempts that wait for them. */
  readonly #asked = new Set<AskedRender>();
  /** Bounded by the parts of the process. */
  readonly #listeners: RenderListener[] = [];

  /** `slots`: pages that are shown at once. */
  constructor(slots: number) {
    this.#slots = slots;
  }

  onRendered(listener: RenderListener): void {
    this.#listeners.push(listener);
  }

  async count<T>(name: RenderName, render: () => Promise<T>): Promise<T> {
    const asked: AskedRender = { name, askedAt: performance.now() };
    this.#asked.add(asked);
    let isShown = false;
    try {
      const shown = await render();
      isShown = true;
      return shown;
    } finally {
      this.#asked.delete(asked);
      for (const listener of this.#listeners) listener(name, isShown, performance.now() - asked.askedAt);
    }
  }

  /** Renders of this name that wait for a free page; the browsers take them in the order in which they were asked for. */
  waiting(name: RenderName): { readonly waiting: number; readonly oldestMs: number } {
    const waiting = [...this.#asked].slice(this.#slots).filter((asked) => asked.name === name);
    const [oldest] = waiting;
    return {
      waiting: waiting.length,
      oldestMs: oldest === undefined ? 0 : performance.now() - oldest.askedAt,
    };
  }
}
