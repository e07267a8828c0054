import { ScrapifieError } from '../../errors/scrapifie-error.ts';
import type { CaptchaSolver, SolverFigures, UnsolvedDetails } from '../../ports/captcha.ts';
import { detailsOf, ended } from './unsolved.ts';

export interface CaptchaServiceOptions {
  /** Null: not set up. */
  readonly primary: CaptchaSolver | null;
  /** Asked when the first fails or is not set up. */
  readonly fallback: CaptchaSolver | null;
  /** How long a solver is left alone whose account needs its owner: no key, no money. */
  readonly restMs?: number | undefined;
  /** Monotonic milliseconds; the process's clock unless told. */
  readonly now?: (() => number) | undefined;
}

/** The solvers of an installation as one. */
export interface CaptchaService extends CaptchaSolver {
  /** Whether there is any solver to ask. */
  readonly isSetUp: boolean;
  figures(): readonly SolverFigures[];
}

const REST_MS = 300_000;

interface Desk {
  readonly solver: CaptchaSolver;
  figures: SolverFigures;
  restsUntil: number;
  why: UnsolvedDetails | null;
}

export function createCaptchaService({
  primary,
  fallback,
  restMs = REST_MS,
  now = () => performance.now(),
}: CaptchaServiceOptions): CaptchaService {
  const desks: readonly Desk[] = [primary, fallback]
    .filter((solver) => solver !== null)
    .map((solver) => ({
      solver,
      figures: { solver: solver.name, solved: 0, failed: 0, refused: 0, ms: 0, costUsd: 0 },
      restsUntil: Number.NEGATIVE_INFINITY,
      why: null,
    }));

  return {
    name: 'solvers',
    isSetUp: desks.length > 0,

    async solve(puzzle, signal) {
      if (signal.aborted) throw ended(signal.reason);
      const failures: UnsolvedDetails[] = [];
      for (const desk of desks) {
        if (desk.why !== null && now() < desk.restsUntil) {
          failures.push(desk.why);
          continue;
        }
        try {
          const solution = await desk.solver.solve(puzzle, signal);
          const { figures } = desk;
          desk.figures = {
            ...figures,
            solved: figures.solved + 1,
            ms: figures.ms + solution.ms,
            costUsd: figures.costUsd + (solution.costUsd ?? 0),
          };
          return solution;
        } catch (error) {
          desk.figures = { ...desk.figures, failed: desk.figures.failed + 1 };
          const details = detailsOf(error);
          if (details === null) throw error;
          failures.push(details);
          desk.why = details.isAccountFault ? details : null;
          desk.restsUntil = now() + restMs;
        }
      }
      throw nobody(failures);
    },

    async reportBad(solution) {
      const desk = desks.find(({ solver }) => solver.name === solution.solver);
      if (desk === undefined) return;
      desk.figures = { ...desk.figures, refused: desk.figures.refused + 1 };
      await desk.solver.reportBad(solution);
    },

    async balance(signal) {
      const balances = await Promise.all(desks.map(({ solver }) => solver.balance(signal)));
      return balances.reduce((sum, each) => sum + each, 0);
    },

    figures: () => desks.map(({ figures }) => figures),

    async close() {
      await Promise.all(desks.map(({ solver }) => solver.close()));
    },
  };
}

function nobody(failures: readonly UnsolvedDetails[]): ScrapifieError {
  const solver = failures.map((each) => each.solver).join(', ') || 'none';
  const reason =
    failures.map((each) => `${each.solver}: ${each.reason}`).join('; ') || 'no solver service is set up';
  const isAccountFault = failures.length > 0 && failures.every((each) => each.isAccountFault);
  const details: UnsolvedDetails = { solver, reason, isAccountFault };
  return new ScrapifieError('CAPTCHA_UNSOLVED', `The puzzle was not solved: ${reason}`, { details });
}
