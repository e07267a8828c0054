/** Anything with events: a socket, a server, a stream, a process, a thread, a page. */
export interface Emitter {
  on(event: string, listener: (...args: unknown[]) => void): unknown;
  off(event: string, listener: (...args: unknown[]) => void): unknown;
}

/** Its parameters are those of the event, which the types of emitters do not tell: they are written at the listener. */
type Listener = (...args: never[]) => unknown;

let reporter: ((error: unknown) => void) | null = null;

/**
 * From now on errors of guarded listeners of this thread are told to `report` alone, until the function that is returned
 * is called. Without a reporter they stay uncaught, so that a command ends and says why, and a thread is replaced.
 */
export function reportListenerErrors(report: (error: unknown) => void): () => void {
  const before = reporter;
  reporter = report;
  return () => {
    if (reporter === report) reporter = before;
  };
}

/**
 * The one way to listen to events. An error that the listener throws, or with which the promise that it returns is
 * rejected, would otherwise be uncaught and end the process with all its other work. It is reported instead, and ends the
 * target alone: a socket, stream or request is destroyed, a thread or a process that was started is ended. A server goes
 * on, and the connection that the event brings (`connection`, `request`, `upgrade`) is destroyed. Callers that wait for the
 * target learn of its end by `close` or `exit`. `target.off(event, listener)` works as usual.
 */
export function listen(target: object | null | undefined, event: string, listener: Listener): void {
  if (!isEmitter(target)) return;
  const call = guard(target, listener);
  target.on(event, Object.assign(call, { listener }));
}

/** Listens for the first event alone. */
export function listenOnce(target: object | null | undefined, event: string, listener: Listener): void {
  if (!isEmitter(target)) return;
  const guardedListener = guard(target, listener);
  const call = (...args: unknown[]) => {
    target.off(event, call);
    guardedListener(...args);
  };
  target.on(event, Object.assign(call, { listener }));
}

/** Guards what is called back in other ways: by a signal, or by a function that takes the listener itself. */
export function guarded<A extends readonly unknown[]>(
  listener: (...args: A) => unknown,
): (...args: A) => void {
  return guard(null, listener as unknown as Listener) as unknown as (...args: A) => void;
}

function guard(owner: object | null, listener: Listener): (...args: unknown[]) => void {
  const call = listener as (...args: unknown[]) => unknown;
  return (...args) => {
    try {
      const result = call(...args);
      if (result instanceof Promise) result.catch((error: unknown) => failed(error, [owner, ...args]));
    } catch (error) {
      failed(error, [owner, ...args]);
    }
  };
}

function failed(error: unknown, involved: readonly unknown[]): void {
  const report = reporter;
  if (report === null) {
    queueMicrotask(() => {
      throw error;
    });
    return;
  }
  try {
    report(error);
  } finally {
    end(involved);
  }
}

interface Endable {
  destroy?(): unknown;
  terminate?(): unknown;
  kill?(): unknown;
  /** The program of a process that was started; this process itself has none. */
  readonly spawnfile?: unknown;
}

/** Ends the first that can be ended. */
function end(involved: readonly unknown[]): void {
  for (const each of involved) {
    if (typeof each !== 'object' || each === null) continue;
    const one = each as Endable;
    try {
      if (typeof one.destroy === 'function') one.destroy();
      else if (typeof one.terminate === 'function') Promise.resolve(one.terminate()).catch(() => undefined);
      else if (typeof one.kill === 'function' && one.spawnfile !== undefined) one.kill();
      else continue;
    } catch {
      // The object has ended by itself.
    }
    return;
  }
}

const isEmitter = (target: object | null | undefined): target is Emitter =>
  typeof (target as Partial<Emitter> | null | undefined)?.on === 'function';
