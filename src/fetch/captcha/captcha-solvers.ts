import { setTimeout as pause } from 'node:timers/promises';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type {
  Captcha,
  CaptchaKind,
  CaptchaSolver,
  Solution,
  SolverFigures,
  UnsolvedDetails,
} from '../../core/ports/captcha.ts';
import { abortError } from '../deadline.ts';
import { CaptchaApiClient, detailsOf, type Reply, unsolved } from './captcha-api-client.ts';

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

/** What a service makes of our questions. Throws only when a signal, or the end of its line, ends one. */
export interface SolverApi {
  readonly name: string;
  /** Hands the captcha in; the service's name for the task. */
  submit(captcha: Captcha, signal: AbortSignal): Promise<Reply<string>>;
  result(taskId: string, kind: CaptchaKind, signal: AbortSignal): Promise<Reply<ServiceAnswer>>;
  /** Null when the service takes no such reports. */
  reportBad(taskId: string, kind: CaptchaKind, signal: AbortSignal): Promise<unknown>;
  balance(signal: AbortSignal): Promise<Reply<number>>;
}

export interface ServiceAnswer {
  readonly token: string;
  readonly userAgent: string | null;
  readonly costUsd: number | null;
}

export interface SolverTiming {
  /** From handing in to the first request for a solution: nothing is solved at once. */
  readonly firstPauseMs: number;
  /** Between questions; services count them and shut out who asks too often. */
  readonly pauseMs: number;
  /** For one captcha from handing in to its solution. */
  readonly limitMs: number;
  /** For one request and its answer. */
  readonly requestMs: number;
}

const SOLVER_TIMING: SolverTiming = {
  firstPauseMs: 5_000,
  pauseMs: 5_000,
  limitMs: 150_000,
  requestMs: 15_000,
};

/** Faults in a row after which a service is given up: another may be waiting to be asked. */
const MOST_FAULTS = 4;
const REPORT_MS = 10_000;

export interface SolverOptions {
  readonly key: string;
  /** Address of the service, or of another one with the same interface. */
  readonly url: string;
  readonly timing?: Partial<SolverTiming> | undefined;
}

/** The line, by which the service is asked, is closed with the solver. */
export function createPollingSolver(
  Api: new (key: string, line: CaptchaApiClient) => SolverApi,
  { key, url, timing }: SolverOptions,
): CaptchaSolver {
  const { firstPauseMs, pauseMs, limitMs, requestMs } = { ...SOLVER_TIMING, ...timing };
  const line = new CaptchaApiClient({ url, requestMs });
  const api = new Api(key, line);

  /** Asks until there is an answer. `signal` ends the wait for whatever reason. */
  const insist = async <T>(request: () => Promise<Reply<T>>, signal: AbortSignal): Promise<T> => {
    for (let faults = 0; ; ) {
      const reply = await request();
      if (reply.kind === 'ok') return reply.value;
      if (reply.kind === 'refused') throw unsolved(api.name, reply.reason);
      faults = reply.kind === 'fault' ? faults + 1 : 0;
      if (reply.kind === 'fault' && faults >= MOST_FAULTS) throw unsolved(api.name, reply.reason);
      await pause(pauseMs, undefined, { signal });
    }
  };

  return {
    name: api.name,

    async solve(captcha, caller) {
      const startedAt = performance.now();
      const late = AbortSignal.timeout(limitMs);
      const end = AbortSignal.any([caller, line.closing]);
      const signal = AbortSignal.any([end, late]);
      try {
        end.throwIfAborted();
        const taskId = await insist(() => api.submit(captcha, signal), signal);
        await pause(firstPauseMs, undefined, { signal });
        const answer = await insist(() => api.result(taskId, captcha.kind, signal), signal);
        const ms = performance.now() - startedAt;
        return { ...answer, kind: captcha.kind, solver: api.name, taskId, ms };
      } catch (error) {
        if (end.aborted) throw abortError(end.reason);
        if (late.aborted) throw unsolved(api.name, `no solution within ${limitMs} ms`);
        throw error;
      }
    },

    async reportBad({ taskId, kind }: Solution) {
      await api.reportBad(taskId, kind, AbortSignal.timeout(REPORT_MS)).catch(() => {});
    },

    async balance(signal) {
      const reply = await api.balance(signal);
      if (reply.kind === 'ok') return reply.value;
      throw unsolved(api.name, reply.kind === 'pending' ? 'it does not tell the balance' : reply.reason);
    },

    close: () => line.close(),
  };
}

/** What may be told to a service about the page. */
export function publicPart(pageUrl: string): string {
  const { origin, pathname } = new URL(pageUrl);
  return origin + pathname;
}

export function balanceOf(value: unknown): Reply<number> {
  const usd = dollars(value);
  return usd === null ? { kind: 'refused', reason: 'its balance is no number' } : { kind: 'ok', value: usd };
}

/** Services write numbers as text, too. */
export function dollars(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : null;
}
