import { ScrapifieError } from '../errors/scrapifie-error.ts';
import { type CredentialHosts, isFor, notFor } from '../model/credential-hosts.ts';
import type { RenderAction } from '../model/render.ts';
import type { Credential } from './credential.ts';

const BLANK = /\{\{\s*(?:credentials\.)?(username|password)\s*\}\}/g;

/**
 * Puts user name and password in place of `{{username}}` and `{{password}}` in what is to be typed: right before the
 * page is shown, so that no job, queue or log ever holds them. Throws UNSUPPORTED_OPTION, which names the step, when
 * there is nothing to put in or the page is on a host that the credential is not for. The frame of the field is looked at
 * when the text is put in, by the hosts that go along.
 */
export function fillIn(
  actions: readonly RenderAction[],
  credential: Credential | null,
  url: string,
): readonly RenderAction[] {
  return actions.map((action, index) => {
    if (action.type !== 'type' || action.text.search(BLANK) === -1) return action;
    const login = loginFor(credential, url, `actions.${index}`);
    let isPassword = false;
    // By a function: what is put in is no pattern.
    const text = action.text.replace(BLANK, (_, field: 'username' | 'password') => {
      isPassword ||= field === 'password';
      return login[field];
    });
    const { hosts, allowHttp } = login;
    return { ...action, text, fill: { hosts, allowHttp, isPassword } };
  });
}

interface Login extends CredentialHosts {
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
    throw refusal(step, notFor(credential, url));
  }
  return credential;
}

const refusal = (step: string, why: string) =>
  new ScrapifieError('UNSUPPORTED_OPTION', `${step} cannot be done: ${why}.`, { details: { step } });
