import { getPublicSuffix } from 'tldts';
import { z } from 'zod';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { JobOptions } from '../../core/model/job.ts';
import { type CredentialHosts, isFor, notFor, type RenderAction } from '../../core/model/render.ts';
import { FORBIDDEN_HEADERS } from '../../fetch/http/request-headers.ts';
import { urlPart } from '../../lib/url-part.ts';
import { secretField } from './secret-fields.ts';

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;
/** Visible ASCII, spaces and tabs: nothing that could end a header. */
const HEADER_VALUE = /^[\t\x20-\x7e]{0,8192}$/;
/** RFC 6265 cookie octets. */
const COOKIE_VALUE = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]{0,4096}$/;
const TOKEN = /^[\x21-\x7e]{1,8192}$/;
const MOST_NAMES = 64;

const hosts = z
  .array(
    z
      .string()
      .max(300)
      .transform((text) => text.trim().toLowerCase())
      .superRefine((host, context) => {
        const problem = hostProblem(host);
        if (problem !== null) context.addIssue({ code: 'custom', message: problem });
      }),
  )
  .min(1)
  .max(100)
  .describe(
    'The only hosts it is ever sent to: `example.com`, `example.com:8443`, or `*.example.com` for all below it.',
  );

const allowHttp = z
  .boolean()
  .optional()
  .describe('Send it by unencrypted `http://` too, where everybody on the way can read it.');

const pairs = (value: RegExp, refuse: (name: string) => string | null) =>
  z.record(z.string(), z.string()).superRefine((given, context) => {
    const entries = Object.entries(given);
    if (entries.length === 0 || entries.length > MOST_NAMES) {
      context.addIssue({ code: 'custom', message: `Between 1 and ${MOST_NAMES} are expected.` });
    }
    for (const [name, text] of entries) {
      const problem = !HEADER_NAME.test(name)
        ? 'Not a valid name.'
        : (refuse(name.toLowerCase()) ??
          (value.test(text) ? null : 'The value has characters it must not have.'));
      if (problem !== null) context.addIssue({ code: 'custom', path: [name], message: problem });
    }
  });

const username = z.string().min(1).max(1_000);
const password = secretField('credential.password', z.string().min(1).max(4_096));

/** What to log in with, and where. */
export const credentialInputSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('login').describe('For a form: `{{username}}` and `{{password}}` in `type` actions.'),
    hosts,
    allowHttp,
    username,
    password,
  }),
  z.strictObject({
    kind: z.literal('basic').describe('HTTP Basic authentication.'),
    hosts,
    allowHttp,
    username: username.refine((text) => !text.includes(':'), 'A user name of HTTP Basic has no colon.'),
    password,
  }),
  z.strictObject({
    kind: z.literal('bearer').describe('`Authorization: Bearer …`.'),
    hosts,
    allowHttp,
    token: secretField(
      'credential.token',
      z.string().regex(TOKEN, 'A token is visible ASCII without spaces.'),
    ),
  }),
  z.strictObject({
    kind: z.literal('headers').describe('Any request headers.'),
    hosts,
    allowHttp,
    headers: secretField(
      'credential.headers',
      pairs(HEADER_VALUE, (name) => {
        if (name === 'cookie') return 'Use the kind `cookies` instead.';
        return FORBIDDEN_HEADERS.has(name) ? 'The engine sets this header itself.' : null;
      }),
    ),
  }),
  z.strictObject({
    kind: z.literal('cookies').describe('Cookies by name.'),
    hosts,
    allowHttp,
    cookies: secretField(
      'credential.cookies',
      pairs(COOKIE_VALUE, () => null),
    ),
  }),
]);

export type Credential = Readonly<z.output<typeof credentialInputSchema>>;
export type CredentialKind = Credential['kind'];
export const CREDENTIAL_KINDS = [
  'login',
  'basic',
  'bearer',
  'headers',
  'cookies',
] as const satisfies readonly CredentialKind[];

/** What a request to the URL brings along; nothing for a host that the credential is not for. */
export interface CredentialParts {
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: Readonly<Record<string, string>>;
}

const NOTHING: CredentialParts = { headers: {}, cookies: {} };

/** A log-in by form brings nothing along: it is typed in. */
export function credentialHeaders(credential: Credential | null, url: string): CredentialParts {
  if (credential === null || !isFor(credential, url)) return NOTHING;
  switch (credential.kind) {
    case 'basic': {
      const pair = Buffer.from(`${credential.username}:${credential.password}`).toString('base64');
      return { ...NOTHING, headers: { authorization: `Basic ${pair}` } };
    }
    case 'bearer':
      return { ...NOTHING, headers: { authorization: `Bearer ${credential.token}` } };
    case 'headers':
      return { ...NOTHING, headers: credential.headers };
    case 'cookies':
      return { ...NOTHING, cookies: credential.cookies };
    case 'login':
      return NOTHING;
  }
}

/** The parts that keys which may only use the credential must not see. A user name is no secret: pages greet people by it. */
export function credentialSecrets(credential: Credential): readonly string[] {
  switch (credential.kind) {
    case 'basic': {
      const { username, password } = credential;
      return [password, Buffer.from(`${username}:${password}`).toString('base64')];
    }
    case 'login':
      return [credential.password];
    case 'bearer':
      return [credential.token];
    case 'headers':
      return Object.values(credential.headers);
    case 'cookies':
      return Object.values(credential.cookies);
  }
}

/** An address of IPv6, or labels of letters, digits, dashes and, as some hosts have them, underscores. */
const HOST =
  /^(?:\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*)$/;

function hostProblem(entry: string): string | null {
  const isBelow = entry.startsWith('*.');
  const name = isBelow ? entry.slice(2) : entry;
  const url = /[\s/?#@\\*]/.test(name) ? null : URL.parse(`https://${name}`);
  if (url === null || url.host !== name || !HOST.test(url.hostname)) {
    return 'Not a host; write example.com, example.com:8443 or *.example.com.';
  }
  if (!isBelow) return null;
  const suffix = getPublicSuffix(url.hostname, { allowPrivateDomains: true });
  return suffix === url.hostname ? 'Everybody may have a host below this one.' : null;
}

/**
 * Whether a job may fetch pages in a session that has credentials. Throws FORBIDDEN, which names the scope that the key
 * of the job lacks: one to use credentials, and one to run scripts of the caller's on such pages, because a script can
 * read what was typed and what the site has set, and write it anywhere on the page.
 */
export function requireCredentialAccess(options: JobOptions): void {
  const { credentials = 'use' } = options;
  if (credentials === 'none') {
    throw new ScrapifieError(
      'FORBIDDEN',
      'The session logs in with stored credentials: the API key needs the scope "credentials".',
    );
  }
  if (credentials === 'use' && hasScript(options)) {
    throw new ScrapifieError(
      'FORBIDDEN',
      'evaluate could read stored credentials in this session: the API key needs the scope "credentials:read".',
    );
  }
}

/** Whether there are sessions that the job may not use. */
export const isLimited = (options: JobOptions): boolean =>
  options.credentials === 'none' || (options.credentials !== 'read' && hasScript(options));

const hasScript = ({ page }: JobOptions): boolean =>
  page.render?.actions?.some(({ type }) => type === 'evaluate') ?? false;

const BLANK = /\{\{\s*(?:credentials\.)?(username|password)\s*\}\}/g;

/**
 * Replaces `{{username}}` and `{{password}}` in the text of `type` actions, right before the
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
    // By a function, since `$` in the replacement would be a pattern.
    const text = action.text.replace(BLANK, (_, field: 'username' | 'password') => {
      isPassword ||= field === 'password';
      return login[field];
    });
    const { hosts, allowHttp } = login;
    return { ...action, text, fill: { hosts, allowHttp, isPassword } };
  });
}

/**
 * Replaces `{{username}}` and `{{password}}` in the body of a form, right before it is sent. Throws UNSUPPORTED_OPTION
 * when there is nothing to put in, or when the credential is not for the host that gets the body or for the host of the
 * page that has the form: its fields could be named by a stranger.
 */
export function fillBody(
  body: string,
  credential: Credential | null,
  { url, pageUrl }: { readonly url: string; readonly pageUrl: string },
): string {
  loginFor(credential, pageUrl, LOGIN_FORM);
  const login = loginFor(credential, url, LOGIN_FORM);
  return body.replace(BLANK, (_, field: 'username' | 'password') => urlPart(login[field]));
}

const LOGIN_FORM = 'The log-in by form';

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
