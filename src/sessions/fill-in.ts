import { ScrapifieError } from '../errors/scrapifie-error.ts';
import type { RenderAction } from '../model/render.ts';
import { type Credential, isFor } from './credential.ts';

const BLANK = /\{\{\s*(?:credentials\.)?(username|password)\s*\}\}/g;

/**
 * Puts user name and password in place of `{{username}}` and `{{password}}` in what is to be typed: right before the
 * page is shown, so that no job, queue or log ever holds them. Throws UNSUPPORTED_OPTION, which names the step, when
 * there is nothing to put in or the page is on a host that the credential is not for.
 */
export function fillIn(
  actions: readonly RenderAction[],
  credential: Credential | null,
  url: string,
): readonly RenderAction[] {
  return actions.map((action, index) => {
    if (action.type !== 'type' || action.text.search(BLANK) === -1) return action;
    const login = loginFor(credential, url, `actions.${index}`);
    // By a function: what is put in is no pattern.
    return { ...action, text: action.text.replace(BLANK, (_, field: keyof Login) => login[field]) };
  });
}

interface Login {
  readonly username: string;
  readonly password: string;
}

function loginFor(credential: Credential | null, url: string, step: string): Login {
  if (credential === null) {
    throw refusal(step, 'user name and password are to be typed, but the session has no credentials');
  }
  if (credential.kind !== 'login' && credential.kind !== 'basic') {
    throw refusal(step, `credentials of the kind "${credential.kind}" have no user name and password`);
  }
  if (!isFor(credential, url)) {
    const host = URL.parse(url)?.host ?? '';
    throw refusal(step, `the credentials are for ${credential.hosts.join(', ')} and not for ${host}`);
  }
  return credential;
}

const refusal = (step: string, why: string) =>
  new ScrapifieError('UNSUPPORTED_OPTION', `${step} cannot be done: ${why}.`, { details: { step } });
