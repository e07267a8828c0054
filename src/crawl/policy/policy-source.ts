import type { Settings } from '../../core/config/settings.ts';
import type { Logger } from '../../core/observe/logger.ts';
import type { Bus } from '../../core/ports/bus.ts';
import type { Store } from '../../core/ports/store.ts';
import type { Policies } from './policies.ts';
import { watchPolicyFile } from './policy-watch.ts';

/** The policies in force: those of the file, which is watched, and the opt-outs of the store. */
export interface PolicySource {
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
