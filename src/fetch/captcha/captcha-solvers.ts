import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { CaptchaSolver, SolverFigures, UnsolvedDetails } from '../../core/ports/captcha.ts';
import { abortError } from '../deadline.ts';
import { detailsOf } from './captcha-api-client.ts';

export interface CaptchaServiceOptions {
  /** Null when no solver is set up. */
  readonly primary: CaptchaSolver | null;
  /** Asked when the first fails or is not set up. */
  readonly fallback: CaptchaSolver | null;
  /** How long a solver is left alone whose account needs its owner: no key, no money. */
  readonly restMs?: number | undefined;
  /** Monotonic milliseconds; the process's clock by default. */
  readonly now?: (() => number) | undefined;
}

/** The solvers of an installation as one. */
export interface CaptchaService extends CaptchaSolver {
  /** Whether there is any solver to ask. */
  readonly isSetUp: boolean;
  figures(): readonly SolverFigures[];
}

const REST_MS = 300_000;

interface SolverState {
  readonly solver: CaptchaSolver;
  figures: SolverFigures;
  restsUntil: number;
  accountFault: UnsolvedDetails | null;
}

export function createCaptchaService({
  primary,
  fallback,
  restMs = REST_MS,
  now = () => performance.now(),
}: CaptchaServiceOptions): CaptchaService {
  const states: readonly SolverState[] = [primary, fallback]
    .filter((solver) => solver !== null)
    .map((solver) => ({
      solver,
      figures: { solver: solver.name, solved: 0, failed: 0, refused: 0, ms: 0, costUsd: 0 },
      restsUntil: Number.NEGATIVE_INFINITY,
      accountFault: null,
    }));

  return {
    name: 'solvers',
    isSetUp: states.length > 0,

    async solve(captcha, signal) {
      if (signal.aborted) throw abortError(signal.reason);
      const failures: UnsolvedDetails[] = [];
      for (const state of states) {
        if (state.accountFault !== null && now() < state.restsUntil) {
          failures.push(state.accountFault);
          continue;
        }
        try {
          const solution = await state.solver.solve(captcha, signal);
          const { figures } = state;
          state.figures = {
            ...figures,
            solved: figures.solved + 1,
            ms: figures.ms + solution.ms,
            costUsd: figures.costUsd + (solution.costUsd ?? 0),
          };
          return solution;
        } catch (error) {
          state.figures = { ...state.figures, failed: state.figures.failed + 1 };
          const details = detailsOf(error);
          if (details === null) throw error;
          failures.push(details);
          state.accountFault = details.isAccountFault ? details : null;
          state.restsUntil = now() + restMs;
        }
      }
      throw allFailed(failures);
    },

    async reportBad(solution) {
      const state = states.find(({ solver }) => solver.name === solution.solver);
      if (state === undefined) return;
      state.figures = { ...state.figures, refused: state.figures.refused + 1 };
      await state.solver.reportBad(solution);
    },

    async balance(signal) {
      const balances = await Promise.all(states.map(({ solver }) => solver.balance(signal)));
      return balances.reduce((sum, each) => sum + each, 0);
    },

    figures: () => states.map(({ figures }) => figures),

    async close() {
      await Promise.all(states.map(({ solver }) => solver.close()));
    },
  };
}

function allFailed(failures: readonly UnsolvedDetails[]): ScrapifieError {
  const solver = failures.map((each) => each.solver).join(', ') || 'none';
  const reason =
    failures.map((each) => `${each.solver}: ${each.reason}`).join('; ') || 'no solver service is set up';
  const isAccountFault = failures.length > 0 && failures.every((each) => each.isAccountFault);
  const details: UnsolvedDetails = { solver, reason, isAccountFault };
  return new ScrapifieError('CAPTCHA_UNSOLVED', `The captcha was not solved: ${reason}`, { details });
}
