import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { browserCrashed, browserUnavailable, mapNavigationError } from '../render-errors.ts';

/** The service was not reached, or what answers at its address is no FlareSolverr. */
export function solverUnavailable(why: string): ScrapifieError {
  return browserUnavailable(`FlareSolverr ${why}`);
}

export function unsupported(what: string): ScrapifieError {
  return new ScrapifieError('UNSUPPORTED_OPTION', `FlareSolverr cannot ${what}`);
}

const TIMEOUT = /timeout after/i;
const BANNED = /has blocked this request|ip is banned/i;
/**
 * FlareSolverr sets cookies after a first load without them. This error means that the load was redirected to another
 * host.
 */
const LED_AWAY = /invalid cookie domain/i;
const CRASHED =
  /invalid session id|session deleted|disconnected|not reachable|crashed|no such window|window already closed|max retries exceeded/i;
const NO_BROWSER = /session not created|cannot (?:find|start)|binary|chrome failed to start/i;
const UNSOLVED = /captcha|challenge/i;

/**
 * Names what FlareSolverr says went wrong with a page. It has one status and free text for everything, so the text
 * decides; addresses are taken out of it, because they may hold secrets.
 */
export function solverError(message: string, host: string): ScrapifieError {
  const net = /net::ERR_[A-Z0-9_]+/.exec(message)?.[0];
  if (net !== undefined) return mapNavigationError(new Error(net), host);
  if (TIMEOUT.test(message)) {
    return new ScrapifieError('TASK_TIMEOUT', `FlareSolverr did not get past ${host} in time`);
  }
  if (BANNED.test(message)) {
    return new ScrapifieError('BLOCKED', `${host} has blocked the address that FlareSolverr has`);
  }
  if (LED_AWAY.test(message)) {
    const why = 'leads to another host before FlareSolverr can give it its cookies';
    return new ScrapifieError('BAD_REDIRECT', `${host} ${why}`);
  }
  if (CRASHED.test(message)) return browserCrashed('The browser of FlareSolverr');
  const said = plain(message);
  if (NO_BROWSER.test(message) || !UNSOLVED.test(message)) return solverUnavailable(`failed: ${said}`);
  return new ScrapifieError('CAPTCHA', `FlareSolverr did not get past the challenge of ${host}: ${said}`);
}

function plain(message: string): string {
  const [first = ''] = message.split(/\\n|\n/);
  const text = first
    .replace(/^(?:Error: |Error solving the challenge\. )+/, '')
    .replace(/\b[a-z][a-z0-9+.-]*:\/\/\S+/gi, '…')
    .replace(/\s+/g, ' ')
    .trim();
  return text.slice(0, 160) || 'it does not say why';
}
