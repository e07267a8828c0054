import type { SettingOverrides, SettingProblem } from '../../core/config/load.ts';
import { settingSources } from '../../core/config/load.ts';
import type { Settings } from '../../core/config/settings.ts';
import { isScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { readSettings } from '../flags/flags.ts';
import type { Shell } from '../shell/shell.ts';
import type { NamedFinding } from './doctor-checks.ts';
import { failure, fine } from './finding.ts';

/** What is wrong with the settings, and those that can be used although others are wrong. */
export interface CheckedSettings {
  readonly finding: NamedFinding;
  /** Null: `.env` has wrong ones, and cannot be read without them. `shell` has the environment without wrong ones. */
  readonly usable: { readonly shell: Shell; readonly settings: Settings } | null;
}

const check = 'settings';

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
