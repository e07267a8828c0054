import type { PageOptions } from '../../core/model/job.ts';
import type { TrapName } from '../../core/model/reason-spec.ts';
import type { ScopeReason } from '../../core/model/task-reasons.ts';
import { BoundedMap } from '../../lib/bounded-map.ts';
import { ownString } from '../../lib/own-memory.ts';
import { pathOf } from './pattern.ts';

const MAX_URL_CHARS = 2_048;
const MAX_SEGMENTS = 30;
const MAX_SAME_SEGMENT = 3;

/** Whether a URL is longer than any page of a site needs. */
export function isTooLong(url: string): boolean {
  return url.length > MAX_URL_CHARS;
}

/**
 * Which kind of endless URL this looks like, or null. It judges one URL by its looks alone, so it catches links that
 * grow from page to page; session ids need no guard, since canonical URLs have none.
 */
export function trapIn(url: string): TrapName | null {
  if (isTooLong(url)) return 'url-length';
  const path = pathOf(url);
  let slashes = 0;
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) slashes++;
  if (slashes <= MAX_SAME_SEGMENT) return null;
  // The last slash of a folder opens no further segment.
  if ((path.endsWith('/') ? slashes - 1 : slashes) > MAX_SEGMENTS) return 'path-depth';
  const seen = new Map<string, number>();
  for (const segment of path.slice(1).split('/')) {
    const times = (seen.get(segment) ?? 0) + 1;
    if (times > MAX_SAME_SEGMENT) return 'repeated-segment';
    seen.set(segment, times);
  }
  return null;
}

/** Ways in which the query of a URL leads to pages without end. */
type QueryTrap = 'query-calendar' | 'query-facets' | 'query-session';

/** Paths that are watched at the same time; the one not seen for longest is forgotten first. */
const MAX_PATHS = 256;
/** Distinct queries of one path that are counted, and thereby admitted. */
const MAX_DATES = 400;
const MAX_COMBINATIONS = 256;
const MAX_SESSIONS = 8;
/** Filters that a query has at least, to count as a combination of facets. */
const LEAST_FILTERS = 3;
/** Sets of filters that a path has at least: a page with three parameters that are always there is no listing. */
const LEAST_SHAPES = 4;
/** Calendars may show the next two years. */
const YEARS_AHEAD = 2;

const PAGING = /^(?:page|p|pg|offset|start|from|limit|(?:per_?|page_?)(?:page|size)|sort|order|dir)$/i;
const SESSION_NAME = /sess|sid$|token|nonce|csrf|ticket|visit|rand|rnd/i;
const TOKEN = /^(?=.*\d)[A-Za-z0-9_.~-]{12,}$/;
const DATE = /^(\d{4})-?(\d{2})(?:-?(\d{2}))?$|^(\d{4})[/.](\d{1,2})(?:[/.](\d{1,2}))?$/;
const YEAR_NAME = /^(?:y|yr|year|jahr|ano|annee|cal_?year)$/i;
const DATE_NAME = /date|day|month|year|week|cal|jahr|monat|tag$/i;

interface Counted {
  readonly dates: Set<string>;
  readonly combinations: Set<string>;
  readonly shapes: Set<string>;
  readonly sessions: Map<string, Set<string>>;
}

/**
 * Notices queries by which a site makes pages without end: calendars that go on for ever, combinations of filters, and
 * ids of sessions that canonical URLs still have. It counts the queries of each path, and what it has admitted once it
 * admits again. Its memory is bounded; forgetting a path admits a few more of its URLs.
 */
export class QueryTraps {
  readonly #paths = new BoundedMap<string, Counted>(MAX_PATHS);

  /** The trap that a canonical URL belongs to; null when it is to be fetched. `now` says which years lie ahead. */
  trapIn(url: string, now: number): QueryTrap | null {
    const queryAt = url.indexOf('?');
    if (queryAt === -1) return null;
    const fragmentAt = url.indexOf('#', queryAt);
    const query = url.slice(queryAt + 1, fragmentAt === -1 ? undefined : fragmentAt);
    const parameters = [...new URLSearchParams(query)];
    return (
      this.#session(url.slice(0, queryAt), parameters) ??
      this.#calendar(url.slice(0, queryAt), query, parameters, now) ??
      this.#facets(url.slice(0, queryAt), query, parameters)
    );
  }

  #session(path: string, parameters: readonly (readonly [string, string])[]): QueryTrap | null {
    const at = parameters.findIndex(([name, value]) => SESSION_NAME.test(name) && TOKEN.test(value));
    const found = parameters[at];
    if (found === undefined) return null;
    const rest = parameters.filter((_, index) => index !== at).join('&');
    const { sessions } = this.#counted(path);
    const key = `${found[0]} ${rest}`;
    const seen = sessions.get(key) ?? new Set<string>();
    if (sessions.size < MAX_COMBINATIONS) sessions.set(ownString(key), seen);
    return admits(seen, found[1], MAX_SESSIONS) ? null : 'query-session';
  }

  #calendar(
    path: string,
    query: string,
    parameters: readonly (readonly [string, string])[],
    now: number,
  ): QueryTrap | null {
    const years = parameters.flatMap(([name, value]) => {
      const [, year, , , otherYear] = (DATE_NAME.test(name) && DATE.exec(value)) || [];
      const found = year ?? otherYear ?? (YEAR_NAME.test(name) && /^\d{4}$/.test(value) ? value : undefined);
      return found === undefined ? [] : [Number(found)];
    });
    if (years.length === 0) return null;
    if (Math.max(...years) > new Date(now).getUTCFullYear() + YEARS_AHEAD) return 'query-calendar';
    return admits(this.#counted(path).dates, query, MAX_DATES) ? null : 'query-calendar';
  }

  #facets(path: string, query: string, parameters: readonly (readonly [string, string])[]): QueryTrap | null {
    const filters = parameters
      .filter(([name]) => !PAGING.test(name))
      .flatMap(([name, value]) => value.split(/[,|]/).map(() => name.replace(/\[\d*\]$/, '')));
    if (filters.length < LEAST_FILTERS) return null;
    const { combinations, shapes } = this.#counted(path);
    if (shapes.size < LEAST_SHAPES) shapes.add(ownString(filters.sort().join()));
    const isAdmitted = admits(combinations, query, MAX_COMBINATIONS);
    return isAdmitted || shapes.size < LEAST_SHAPES ? null : 'query-facets';
  }

  #counted(path: string): Counted {
    let counted = this.#paths.get(path);
    if (counted === undefined) {
      counted = { dates: new Set(), combinations: new Set(), shapes: new Set(), sessions: new Map() };
      this.#paths.set(ownString(path), counted);
    }
    return counted;
  }
}

/** Whether the value was admitted before, or is admitted now because fewer than `most` were. */
function admits(seen: Set<string>, value: string, most: number): boolean {
  if (seen.has(value)) return true;
  if (seen.size >= most) return false;
  seen.add(ownString(value));
  return true;
}

/** The rule of URLs that would end the session of the job. */
export const LOG_OUT_RULE: ScopeReason = 'scope.log-out';

const LONGEST_TEXT = 40;
const CREDENTIAL_HEADERS: ReadonlySet<string> = new Set(['cookie', 'authorization']);

/** A whole part of a path, or a name or value of a query: `logout`, `sign_out`, `user-logoff`, `logout.php`. */
const WORD =
  /^(?:[a-z]{1,12}[-_.])?(?:(?:log|sign)[-_.]?(?:out|off)|endsession|end[-_]session|abmelden|ausloggen|deconnexion|se-deconnecter|cerrar[-_]?sesion|desconectar|uitloggen|afmelden|wyloguj|kijelentkezes)(?:\.[a-z]{2,5})?$/;
/** Sessions that are deleted by their own address, as frameworks have it. */
const SESSION_END = /\/(?:sessions?|login|auth)\/(?:destroy|delete|end)\/?$/;

/** All of a link's text, without signs around it. */
const TEXT =
  /^(?:log ?-?out|log ?-?off|sign ?-?out|sign ?-?off|log me out|abmelden|ausloggen|logout|déconnexion|se déconnecter|deconnexion|cerrar sesión|salir|esci|disconnetti(?:ti)?|terminar sessão|sair|uitloggen|afmelden|wyloguj(?: się)?|odhlásit(?: se)?|kijelentkezés|logga ut|log ud|logg ut|kirjaudu ulos|выйти|выход|çıkış(?: yap)?|oturumu kapat|ログアウト|退出登录|退出|登出|로그아웃|تسجيل الخروج)$/u;

/** True when the pages of the job are fetched as those of a person who is logged in. */
export function isLoggedIn({
  session = null,
  cookies = {},
  headers = {},
}: Partial<Pick<PageOptions, 'session' | 'cookies' | 'headers'>>): boolean {
  return (
    session !== null ||
    Object.keys(cookies).length > 0 ||
    Object.keys(headers).some((name) => CREDENTIAL_HEADERS.has(name.toLowerCase()))
  );
}

/** True for a link that logs out, by its address or by its text. */
export function logsOut(url: string, text = ''): boolean {
  const said = text.replace(/[^\p{L}\p{M} -]+/gu, ' ').trim();
  if (said.length <= LONGEST_TEXT && TEXT.test(said.toLowerCase())) return true;
  const parsed = URL.parse(url);
  if (parsed === null) return false;
  const path = parsed.pathname.toLowerCase();
  if (path.split('/').some((part) => WORD.test(part)) || SESSION_END.test(path)) return true;
  for (const [name, value] of parsed.searchParams) {
    if (WORD.test(name.toLowerCase()) || WORD.test(value.toLowerCase())) return true;
  }
  return false;
}
