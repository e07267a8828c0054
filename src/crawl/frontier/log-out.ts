import type { PageOptions } from '../../core/model/job.ts';
import type { ScopeReason } from '../../core/model/task-reasons.ts';

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
