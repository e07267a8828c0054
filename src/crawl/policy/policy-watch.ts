import { readFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import type { Settings } from '../../core/config/settings.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Logger } from '../../core/observe/logger.ts';
import type { Bus } from '../../core/ports/bus.ts';
import type { Store } from '../../core/ports/store.ts';
import { buildPolicies, type Policies } from './policies.ts';
import { parsePolicyFile, unreadable } from './policy-file.ts';

/** A watch on the policy file, until it is closed. */
export interface PolicyWatch {
  close(): void;
}

/**
 * Calls `onChange` with the policies of each new version of the file, and `onError` with INVALID_POLICY for a
 * version that is broken or for a file that is gone; the policies in force then stay as they are. Call it right after
 * loading: the version that is there now counts as known. Opt-outs are the caller's to add (`withOptOuts`).
 *
 * It looks at the file's stamp instead of asking the system for events, which get lost when an editor puts a new
 * file in the place of the old, and on network folders. A version is read once its stamp has stood still for one
 * look, because half a policy file is often a valid one that lacks the entry which forbids.
 */
export function watchPolicyFile(
  path: string,
  onChange: (policies: Policies) => void,
  onError: (error: ScrapifieError) => void,
  intervalMs = 500,
): PolicyWatch {
  let known = readKnown(path);
  let lastStamp = '';
  let readStamp = '';
  let isClosed = false;
  let timer = schedule();

  function schedule(): NodeJS.Timeout {
    return setTimeout(() => {
      void look().finally(() => {
        if (!isClosed) timer = schedule();
      });
    }, intervalMs).unref();
  }

  async function look(): Promise<void> {
    const stamp = await stampOf(path);
    const isSettled = stamp === lastStamp;
    lastStamp = stamp;
    if (!isSettled || stamp === readStamp || isClosed) return;
    let text: string | null = null;
    let failure: unknown;
    try {
      text = await readFile(path, 'utf8');
    } catch (error) {
      failure = error;
    }
    // Written again while it was read: the next look sees another stamp and begins anew.
    if ((await stampOf(path)) !== stamp || isClosed) return;
    readStamp = stamp;
    if (text === known) return;
    known = text;
    if (text === null) onError(unreadable(path, failure));
    else report(text);
  }

  function report(text: string): void {
    let policies: Policies;
    try {
      policies = buildPolicies(parsePolicyFile(text, path));
    } catch (error) {
      if (!(error instanceof ScrapifieError)) throw error;
      onError(error);
      return;
    }
    onChange(policies);
  }

  return {
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

function readKnown(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

async function stampOf(path: string): Promise<string> {
  try {
    const { mtimeMs, ctimeMs, size, ino } = await stat(path);
    return `${mtimeMs} ${ctimeMs} ${size} ${ino}`;
  } catch {
    return 'gone';
  }
}

/** The policies in force: those of the file, which is watched, and the opt-outs of the store. */
interface PolicySource {
  current(): Policies;
  close(): void;
}

/** A message about an opt-out may be lost, so opt-outs are read again this often. */
const REFRESH_MS = 60_000;

export async function openPolicies(
  file: Policies,
  path: Settings['policyFile'],
  { store, bus, logger }: { store: Pick<Store, 'listOptOuts'>; bus: Bus; logger: Logger },
): Promise<PolicySource> {
  let policies = file;
  const applyOptOuts = async () => {
    policies = policies.withOptOuts(await store.listOptOuts());
  };
  const refresh = () =>
    void applyOptOuts().catch((error: unknown) => logger.warn({ err: error }, 'reading opt-outs failed'));
  await applyOptOuts();
  const unsubscribe = bus.subscribe('policy.changed', refresh);
  const timer = setInterval(refresh, REFRESH_MS);
  timer.unref();
  const watch =
    path === undefined
      ? null
      : watchPolicyFile(
          path,
          (changed) => {
            policies = changed;
            refresh();
            logger.info('policy file reloaded');
          },
          (error) => logger.error({ code: error.code, details: error.details }, error.message),
        );
  return {
    current: () => policies,
    close() {
      unsubscribe();
      clearInterval(timer);
      watch?.close();
    },
  };
}
