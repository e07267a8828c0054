import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import { listen, listenOnce } from '../../core/errors/guarded.ts';
import type { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { killTree, treePids } from '../browser/pool/process-tree.ts';
import { browserCrashed, browserLost, browserUnavailable, shuttingDown } from '../render-errors.ts';
import { userArgument } from './confinement.ts';
import type { StartMessage, StateMessage } from './process-messages.ts';
import { ServerChannel, type ServerChannelOptions } from './server-channel.ts';

export interface RenderProcessOptions extends Pick<ServerChannelOptions, 'onState' | 'onEvent' | 'onAsk'> {
  readonly start: StartMessage;
  readonly launch: ProcessLaunch;
  /** Limits to tell a process that does not behave; those of the program by default. */
  readonly limits?: Partial<ProcessLimits> | undefined;
  readonly onReady: () => void;
  /** Called once, however it ended. */
  readonly onEnd: (end: ProcessEnd) => void;
}

/** How the process is started. */
export interface ProcessLaunch {
  /** The file that it begins with. */
  readonly entry: string;
  readonly env: Readonly<Record<string, string>>;
  /** Whom it becomes once its program is loaded; by default it stays the user of the server. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  /** Stands before the command: a program that starts the rest in namespaces of its own. */
  readonly prefix?: readonly string[] | undefined;
  /** Where it runs: a folder of its own, which is removed after it. */
  readonly home: string;
}

export interface ProcessLimits {
  /** Resident memory of the process itself, its browsers not counted. */
  readonly maxBytes: number;
  /** Limit of the memory of JavaScript objects. */
  readonly maxHeapMegabytes: number;
  /** How long to wait between two looks at the process. */
  readonly lookEveryMs: number;
  /** Looks without a sign of life before it is ended, while it starts and later. */
  readonly looksToStart: number;
  readonly looksToAnswer: number;
  /** For it to close its browsers. */
  readonly closeMs: number;
}

export interface ProcessEnd {
  readonly reason: string;
  /** The process had reported that it was ready. */
  readonly wasReady: boolean;
  readonly isExpected: boolean;
  /** Pages that were under way. */
  readonly underWay: number;
  readonly lastState: StateMessage | null;
}

const LIMITS: ProcessLimits = {
  maxBytes: 1_610_612_736,
  maxHeapMegabytes: 768,
  lookEveryMs: 1_000,
  looksToStart: 90,
  looksToAnswer: 20,
  closeMs: 10_000,
};
const PAGE_BYTES = 4_096;
const KEPT_STDERR_CHARS = 2_000;
const PIPE = 3;

/**
 * One process that drives browsers, from its start to its end. Whatever a page does there costs this process at most.
 * It is ended when it holds too much memory, gives no sign of life, or does not keep to the protocol.
 */
export class RenderProcess {
  readonly channel: ServerChannel;
  readonly #options: RenderProcessOptions;
  readonly #limits: ProcessLimits;
  readonly #child: ChildProcess;
  /** The process and its browsers are gone. */
  readonly ended: Promise<void>;
  readonly #timer: NodeJS.Timeout;
  /** Looks since the last sign of life. */
  #silentLooks = 0;
  #isReady = false;
  #isClosing = false;
  #hasEnded = false;
  #killedFor: string | null = null;
  #lastState: StateMessage | null = null;
  #said = '';

  constructor(options: RenderProcessOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    const { launch, start, onAsk, onEvent } = options;
    const [command = '', ...args] = [
      ...(launch.prefix ?? []),
      process.execPath,
      `--max-old-space-size=${this.#limits.maxHeapMegabytes}`,
      '--disable-warning=ExperimentalWarning',
      launch.entry,
      ...(launch.user === undefined ? [] : [userArgument(launch.user)]),
    ];
    this.#child = spawn(command, args, {
      cwd: launch.home,
      env: { ...launch.env },
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      // Signals for the group of the server, such as Ctrl+C, are for the server, which closes it in order.
      detached: true,
    });
    listen(this.#child.stderr?.setEncoding('utf8'), 'data', (text: string) => {
      this.#said = (this.#said + text).slice(-KEPT_STDERR_CHARS);
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    const onEnd = (reason: string) => void this.#end(reason).finally(resolve);
    listenOnce(this.#child, 'error', (error: Error) => onEnd(`it could not be started (${error.message})`));
    listenOnce(this.#child, 'exit', (code: number | null, signal: NodeJS.Signals | null) =>
      onEnd(this.#reasonFor(code, signal)),
    );
    this.channel = new ServerChannel({
      pipe: this.#child.stdio[PIPE] as Duplex,
      start,
      onReady: () => {
        this.#isReady = true;
        options.onReady();
      },
      onState: (state) => {
        this.#lastState = state;
        options.onState(state);
      },
      onEvent,
      onAsk,
      onHeard: () => {
        this.#silentLooks = 0;
      },
      onViolation: (reason) => this.#kill(reason),
    });
    this.#timer = setInterval(() => void this.#look(), this.#limits.lookEveryMs);
    this.#timer.unref();
  }

  get pid(): number | null {
    return this.#child.pid ?? null;
  }

  /** Lets it close its browsers, and sees it gone. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.channel.end(shuttingDown());
    this.channel.close();
    const late = setTimeout(() => this.#kill('it did not close its browsers in time'), this.#limits.closeMs);
    await this.ended;
    clearTimeout(late);
  }

  /** Ends it with its browsers at once. */
  #kill(reason: string): void {
    if (this.#killedFor !== null || this.#hasEnded) return;
    this.#killedFor = reason;
    const { pid } = this.#child;
    if (pid === undefined) return;
    // Browsers are found as children of the process, so it goes last.
    void treePids(pid)
      .catch(() => [pid])
      .then((pids) => {
        for (const each of pids.reverse()) killNow(each);
        this.#child.kill('SIGKILL');
      });
  }

  async #look(): Promise<void> {
    const { maxBytes, looksToStart, looksToAnswer } = this.#limits;
    if (this.#hasEnded) return;
    this.#silentLooks += 1;
    this.channel.ping();
    const most = this.#isReady ? looksToAnswer : looksToStart;
    if (this.#silentLooks > most) return this.#kill('it gave no sign of life');
    const bytes = await residentBytes(this.#child.pid);
    if (bytes !== null && bytes > maxBytes) {
      this.#kill(
        `it held ${Math.round(bytes / 1e6)} MB of memory, at most ${Math.round(maxBytes / 1e6)} are allowed`,
      );
    }
  }

  #reasonFor(code: number | null, signal: NodeJS.Signals | null): string {
    if (this.#killedFor !== null) return this.#killedFor;
    const isOutOfMemory = /heap out of memory|Allocation failed/.test(this.#said);
    if (isOutOfMemory) return 'it ran out of memory';
    const last = /^\w*Error.*$/m.exec(this.#said)?.[0] ?? '';
    const how = signal === null ? `exit code ${code}` : signal;
    return last === '' ? `it ended (${how})` : `it ended (${how}): ${last.slice(0, 200)}`;
  }

  async #end(reason: string): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearInterval(this.#timer);
    const { underWay } = this.channel;
    this.channel.end(this.#isClosing ? shuttingDown() : this.#errorFor(reason, underWay));
    this.#child.stdio[PIPE]?.destroy();
    this.#options.onEnd({
      reason,
      wasReady: this.#isReady,
      isExpected: this.#isClosing,
      underWay,
      lastState: this.#lastState,
    });
    // Browsers end with the pipe of the process that drove them, unless they are stopped or hang.
    await Promise.all((this.#lastState?.browserPids ?? []).map((pid) => killTree(pid).catch(() => false)));
  }

  /**
   * A single page under way has caused the end of the process. Of several pages the cause is unknown: all are tried
   * again, alone.
   */
  #errorFor(reason: string, underWay: number): ScrapifieError {
    if (!this.#isReady) return browserUnavailable(`the process that drives it did not start: ${reason}`);
    const what = `the process that drives it was lost: ${reason}`;
    return underWay === 1 ? browserCrashed(`The render process (${reason})`) : browserLost(what);
  }
}

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended already.
  }
}

/** Resident memory of the process; null where the system does not tell it. */
async function residentBytes(pid: number | undefined): Promise<number | null> {
  if (pid === undefined) return null;
  const statm = await readFile(`/proc/${pid}/statm`, 'latin1').catch(() => null);
  return statm === null ? null : Number(statm.split(' ')[1]) * PAGE_BYTES;
}
