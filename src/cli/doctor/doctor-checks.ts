import { within } from '../../lib/time-limit.ts';
import { type Check, type Finding, failure, failureOf, type Patient } from './finding.ts';
import { MACHINE_CHECKS } from './machine-checks.ts';
import { PLACE_CHECKS } from './place-checks.ts';
import { REACHABLE_CHECKS } from './reachable-checks.ts';
import { SCRAPE_CHECKS } from './scrape-checks.ts';

/** All checks, in the order in which they are shown. */
const DOCTOR_CHECKS = {
  ...MACHINE_CHECKS,
  ...PLACE_CHECKS,
  ...REACHABLE_CHECKS,
  ...SCRAPE_CHECKS,
} as const satisfies Readonly<Record<string, Check>>;

export type CheckName = keyof typeof DOCTOR_CHECKS;
export type NamedFinding = Finding & { readonly check: string };

/** These start a platform of their own, and a browser. */
export const TRIAL_SCRAPES: readonly CheckName[] = ['a scrape', 'a rendered scrape'];

/** Beyond the limits of single steps. */
const CHECK_MS = 120_000;

/** What the checks find, in their order; those of `except` are left out. They run at the same time, but for the scrapes. */
export async function examine(
  patient: Patient,
  except: ReadonlySet<CheckName> = new Set(),
): Promise<readonly NamedFinding[]> {
  const names = (Object.keys(DOCTOR_CHECKS) as CheckName[]).filter((name) => !except.has(name));
  const findings = new Map<CheckName, Finding>();
  const run = async (name: CheckName) => {
    const look: Check = DOCTOR_CHECKS[name];
    const late = () => new Error(`no result within ${CHECK_MS / 1_000} s`);
    findings.set(
      name,
      await within(CHECK_MS, look(patient), late).catch((error: unknown) => failureOf(error)),
    );
  };
  await Promise.all(names.filter((name) => !TRIAL_SCRAPES.includes(name)).map(run));
  // One after the other, and after the rest: each takes the machine for itself.
  for (const name of names) if (TRIAL_SCRAPES.includes(name)) await run(name);
  return names.map((check) => ({ check, ...(findings.get(check) ?? failure('not run', 'run it again')) }));
}
