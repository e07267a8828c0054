import type { Settings } from '../../core/config/settings.ts';
import { isScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Shell } from '../shell/shell.ts';

/** What a check has found. Whatever is not well says what to do about it. */
export type Finding =
  | { readonly state: 'ok'; readonly found: string }
  | { readonly state: 'warn' | 'fail'; readonly found: string; readonly advice: string };

/** What the checks look at. */
export interface Patient {
  readonly shell: Shell;
  readonly settings: Settings;
}

/** None of them changes anything; what one throws is what it found. */
export type Check = (patient: Patient) => Promise<Finding>;

export const NOT_USED: Finding = { state: 'ok', found: 'not used' };

export const fine = (found: string): Finding => ({ state: 'ok', found });
export const warning = (found: string, advice: string): Finding => ({ state: 'warn', found, advice });
export const failure = (found: string, advice: string): Finding => ({ state: 'fail', found, advice });

/** An error as a finding. Its advice is given for what it has thrown; without one, the meaning of the error says it. */
export function failureOf(error: unknown, advice?: string): Finding {
  const message = error instanceof Error ? error.message : String(error);
  if (!isScrapifieError(error)) {
    return failure(message, advice ?? 'if this is not clear, run it again with SCRAPIFIE_LOG_LEVEL=debug');
  }
  return failure(`${error.code}: ${message}`, advice ?? error.spec.meaning);
}

/** The result of the work, or what it has thrown as a finding with this advice. */
export async function tried(advice: string, work: () => Promise<Finding>): Promise<Finding> {
  try {
    return await work();
  } catch (error) {
    return failureOf(error, advice);
  }
}
