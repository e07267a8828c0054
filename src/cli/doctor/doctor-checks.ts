import { type SettingOverrides, type SettingProblem, settingSources } from '../../core/config/load.ts';
import type { Settings } from '../../core/config/settings.ts';
import { isScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { within } from '../../lib/waits.ts';
import { readSettings } from '../flags/flags.ts';
import type { Shell } from '../shell/shell.ts';
import { type Check, type Finding, failure, failureOf, fine, type Patient } from './finding.ts';
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

const check = 'settings';

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

/** What is wrong with the settings, and those that can be used although others are wrong. */
interface CheckedSettings {
  readonly finding: NamedFinding;
  /** Null when `.env` has wrong settings, and cannot be read without them. `shell` has the environment without wrong ones. */
  readonly usable: { readonly shell: Shell; readonly settings: Settings } | null;
}

/** Reads the settings as a server does. The checks go on without those that are wrong, so that one run tells everything. */
export function checkSettings(shell: Shell, overrides: SettingOverrides): CheckedSettings {
  try {
    const settings = readSettings(shell, overrides, { isServing: true });
    const count = settingSources(shell.environment, { cwd: shell.cwd, overrides }).size;
    return { finding: { check, ...fine(`${count} given`) }, usable: { shell, settings } };
  } catch (error) {
    if (!isScrapifieError(error) || error.code !== 'INVALID_SETTINGS') throw error;
    const problems = (error.details ?? []) as readonly SettingProblem[];
    const told = problems.map(({ setting, problem }) => `${setting} ${problem}`).join('; ');
    const advice = 'correct or unset these; docs/configuration.md has every setting with its values';
    const finding = { check, ...failure(`INVALID_SETTINGS: ${told}`, advice) };
    return { finding, usable: withoutWrong(shell, overrides, problems) };
  }
}

function withoutWrong(
  shell: Shell,
  overrides: SettingOverrides,
  problems: readonly SettingProblem[],
): CheckedSettings['usable'] {
  const wrong = new Set(problems.map(({ setting }) => setting));
  const environment = Object.fromEntries(
    Object.entries(shell.environment).filter(([variable]) => !wrong.has(variable)),
  );
  const rest = { ...shell, environment };
  try {
    return { shell: rest, settings: readSettings(rest, overrides) };
  } catch (error) {
    if (isScrapifieError(error)) return null;
    throw error;
  }
}
