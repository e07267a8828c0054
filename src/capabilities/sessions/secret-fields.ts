import { z } from 'zod';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { PageOptions, ProxyOptions } from '../../core/model/job.ts';
import type { RenderAction } from '../../core/model/render.ts';
import { parseStoredSeed } from '../../crawl/frontier/canonical.ts';

/**
 * The one registry of request fields whose values are stored sealed and shown as `HIDDEN_VALUE`. Each is bound to the place
 * that it was given for: a change that moves the holder to another place does not take the values along.
 *
 * `pages`    the origins of the URLs that the request names
 * `receiver` the origin of a webhook's URL, or its one address of e-mail
 * `hosts`    the hosts that the value itself names; sent nowhere else, whatever the URL
 * `itself`   the server that the value itself addresses, such as a proxy
 */
export const SECRET_FIELDS = {
  'page.headers': 'pages',
  'page.cookies': 'pages',
  'page.body': 'pages',
  'page.actions.text': 'pages',
  'page.actions.value': 'pages',
  'page.actions.files': 'pages',
  'page.actions.script': 'pages',
  'page.proxy.url': 'itself',
  'page.proxy.urls': 'itself',
  'webhook.headers': 'receiver',
  'webhook.secret': 'receiver',
  'credential.password': 'hosts',
  'credential.token': 'hosts',
  'credential.headers': 'hosts',
  'credential.cookies': 'hosts',
} as const satisfies Readonly<Record<string, 'pages' | 'receiver' | 'hosts' | 'itself'>>;

export type SecretField = keyof typeof SECRET_FIELDS;
type PageField = SecretField & `page.${string}`;

/** The schemas of secret fields, each with its entry in the registry. */
export const secretSchemas = z.registry<{ readonly field: SecretField }>();

/** Every schema of a field whose value is sealed is made by this. */
export function secretField<T extends z.ZodType>(field: SecretField, schema: T): T {
  secretSchemas.add(schema, { field });
  return schema;
}

/** Stands in stored options and in answers for a value that is not shown. */
export const HIDDEN_VALUE = '[hidden]';

/** Request headers that never hold credentials. All others may. */
const SHOWN_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'cache-control',
  'content-type',
  'user-agent',
]);

/** The part of page options that may hold secrets. */
export type SecretHolder = Pick<PageOptions, 'headers' | 'cookies' | 'body' | 'proxy' | 'render'>;

/** Each returns the same object when the page has no value of the field. */
const HIDE: { readonly [Field in PageField]: (page: SecretHolder) => SecretHolder } = {
  'page.headers': (page) => {
    const isSecret = (name: string) => !SHOWN_HEADERS.has(name.toLowerCase());
    if (!Object.keys(page.headers).some(isSecret)) return page;
    return { ...page, headers: hideValues(page.headers, isSecret) };
  },
  'page.cookies': (page) =>
    Object.keys(page.cookies).length === 0 ? page : { ...page, cookies: hideValues(page.cookies) },
  'page.body': (page) => (page.body === null ? page : { ...page, body: HIDDEN_VALUE }),
  'page.actions.text': inActions((action) =>
    action.type === 'type' ? { ...action, text: HIDDEN_VALUE } : action,
  ),
  'page.actions.value': inActions((action) =>
    action.type === 'select' ? { ...action, value: HIDDEN_VALUE } : action,
  ),
  'page.actions.files': inActions((action) =>
    action.type === 'upload'
      ? { ...action, files: action.files.map((file) => ({ ...file, base64: HIDDEN_VALUE })) }
      : action,
  ),
  'page.actions.script': inActions((action) =>
    action.type === 'evaluate' ? { ...action, script: HIDDEN_VALUE } : action,
  ),
  'page.proxy.url': inProxy((proxy) => (proxy.url === null ? proxy : { ...proxy, url: HIDDEN_VALUE })),
  'page.proxy.urls': inProxy((proxy) =>
    proxy.urls === undefined ? proxy : { ...proxy, urls: proxy.urls.map(() => HIDDEN_VALUE) },
  ),
};

/** Page options that may be shown; the same object when they hold no secret. */
export function hideSecrets<T extends SecretHolder>(page: T): T {
  let shown: SecretHolder = page;
  for (const hide of Object.values(HIDE)) shown = hide(shown);
  return shown === page ? page : { ...page, ...shown };
}

/** The values of a record, but for those whose names `isSecret` passes over, replaced by `HIDDEN_VALUE`. */
export function hideValues(
  values: Readonly<Record<string, string>>,
  isSecret: (name: string) => boolean = () => true,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, isSecret(name) ? HIDDEN_VALUE : value]),
  );
}

/**
 * Refuses to send the sealed values of a page to origins that they were not given for: throws SECRETS_BOUND when one of the
 * URLs `after` has an origin that none `before` has, and the page holds a value that is bound to its URLs. `named` is the
 * field of the request by which the values can be given anew.
 */
export function requireBoundOrigins(
  page: SecretHolder,
  { before, after, named }: { before: readonly string[]; after: readonly string[]; named: string },
): void {
  const known = new Set(before.map(originOf));
  const added = [...new Set(after.map(originOf))].filter((origin) => origin === null || !known.has(origin));
  if (added.length === 0) return;
  const held = Object.entries(HIDE).flatMap(([field, hide]) => {
    const isMoved = SECRET_FIELDS[field as PageField] === 'pages' && hide(page) !== page;
    return isMoved ? [`${named}.${field.split('.')[1]}`] : [];
  });
  const places = added.map((origin) => origin ?? 'another address');
  if (held.length > 0) throw boundSecrets([...new Set(held)], places, named);
}

const MOST_PLACES = 3;

/** The error of a change that would take the values of `fields` along to `places`; `named` is how to give them anew. */
export function boundSecrets(
  fields: readonly string[],
  places: readonly string[],
  named: string,
): ScrapifieError {
  const shown = places.slice(0, MOST_PLACES).join(', ') + (places.length > MOST_PLACES ? ' …' : '');
  const message = `Has hidden values that were not given for ${shown}. Give \`${named}\` in the same request, with the values that may go there, or without them.`;
  const details = fields.map((field) => ({ field, message }));
  return new ScrapifieError('SECRETS_BOUND', `${fields.join(', ')}: ${message}`, { details });
}

/** The origin that a URL of a request leads to; null for one that is none. */
const originOf = (url: string): string | null => parseStoredSeed(url)?.origin ?? null;

function inActions(hide: (action: RenderAction) => RenderAction): (page: SecretHolder) => SecretHolder {
  return (page) => {
    const actions = page.render?.actions;
    if (page.render === null || actions === undefined) return page;
    const shown = actions.map(hide);
    if (shown.every((action, index) => action === actions[index])) return page;
    return { ...page, render: { ...page.render, actions: shown } };
  };
}

function inProxy(hide: (proxy: ProxyOptions) => ProxyOptions): (page: SecretHolder) => SecretHolder {
  return (page) => {
    if (page.proxy === null) return page;
    const proxy = hide(page.proxy);
    return proxy === page.proxy ? page : { ...page, proxy };
  };
}
