import type { Attempt } from '../../../core/model/attempt.ts';
import type { HostKey } from '../../../core/model/ids.ts';
import type { Job } from '../../../core/model/job.ts';
import { traitsOfKind } from '../../../core/model/job-kinds.ts';
import type { Task } from '../../../core/model/task.ts';
import type { StopReason } from '../../../core/model/task-reasons.ts';
import type { TaskEnd } from '../../../core/ports/ledger-store.ts';
import { isLoginUrl } from '../../../fetch/classify/page-phrases.ts';
import { BoundedMap } from '../../../lib/bounded-map.ts';

/** The reason of a job that was stopped because its pages ask to log in. */
export const LOGIN_WALLS: StopReason = 'login-walls';

/** Pages of a crawl with a session are meant to be open; without one a menu of an account may lead to some in a row. */
const MOST_WITH_SESSION = 5;
const MOST_WITHOUT = 25;
/** Hosts of one job that are counted. */
const MOST_HOSTS = 1_000;

/** Pages in a row, of one host, that ask to log in before the crawl stops; 0: it never does. */
export function loginWallLimit({ kind, options }: Pick<Job, 'kind' | 'options'>): number {
  if (!traitsOfKind(kind).stopsAtLoginWalls) return 0;
  const { maxLoginWalls = null, page } = options;
  return maxLoginWalls ?? (page.session === null ? MOST_WITHOUT : MOST_WITH_SESSION);
}

/** Whether pages of the job are expected to be open because it has a session, which may be logged in. */
export const expectsLogin = ({ kind, options }: Pick<Job, 'kind' | 'options'>): boolean =>
  traitsOfKind(kind).stopsAtLoginWalls && options.page.session !== null;

/** A redirect leads from a page to where visitors log in. */
export const leadsToLogin = (url: string, target: string): boolean => isLoginUrl(target) && !isLoginUrl(url);

/** The end of a page that asks to log in, in a crawl that has a session: it is no result, and is tried again on resume. */
export const LOGIN_REQUIRED_END = {
  state: 'failed',
  rule: 'attempt.login-wall',
  errorCode: 'LOGIN_REQUIRED',
} as const satisfies TaskEnd;

/** Counts the pages of a job, host by host, that asked to log in without one between them that did not. */
export interface LoginWalls {
  /** True when there are as many in a row as the job allows; once for each time. */
  count(
    host: HostKey,
    task: Pick<Task, 'kind' | 'url'>,
    end: TaskEnd,
    attempt: Pick<Attempt, 'outcome'>,
  ): boolean;
}

export function createLoginWalls(limit: number): LoginWalls {
  if (limit === 0) return { count: () => false };
  const walls = new BoundedMap<HostKey, number>(MOST_HOSTS);
  return {
    count(host, task, end, attempt) {
      if (task.kind !== 'page') return false;
      const isRequired = end.state === 'failed' && end.errorCode === 'LOGIN_REQUIRED';
      if (isRequired || (attempt.outcome === 'login-wall' && end.state !== 'waiting')) {
        const inARow = (walls.get(host) ?? 0) + 1;
        walls.set(host, inARow % limit);
        return inARow === limit;
      }
      // The log-in page itself is a page like others when it was linked, and proves nothing.
      if (end.state === 'done' && attempt.outcome === 'ok' && !isLoginUrl(task.url)) walls.delete(host);
      return false;
    },
  };
}
