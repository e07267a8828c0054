import { z } from 'zod';
import { PROXY_TIERS } from '../../core/model/proxy.ts';
import type { CredentialEntry, SessionEntry } from '../../core/ports/session-store.ts';
import { isoTime, isoTimeOrNull } from '../../lib/iso-time.ts';
import { LOGIN_METHODS, type LoginResult } from '../jobs/login.ts';
import { CREDENTIAL_KINDS } from '../sessions/credential.ts';
import { hasEnded, type Session } from '../sessions/session.ts';
import { selfLinks, selfSchema } from './list.ts';

/** The public fields of sessions and credentials: no cookie values, no stored data, no secrets. */

const time = z.iso.datetime();
const tier = z.enum(PROXY_TIERS);
const country = z.string().nullable();

const sessionFields = {
  name: z.string(),
  isExpired: z.boolean().describe('It has ended and is of no more use; its name is free once it is deleted.'),
  credentials: z.string().nullable().describe('The name of what it logs in with.'),
  proxy: z
    .object({ tier: tier.nullable(), country })
    .meta({ id: 'SessionProxy' })
    .nullable()
    .describe('Which way out was asked for.'),
  identity: z.enum(['bot', 'browser']).nullable(),
  requestCount: z.number().int(),
  createdAt: time,
  lastUsedAt: time.nullable(),
  expiresAt: time,
  links: selfSchema,
};
export const sessionEntrySchema = z.object(sessionFields).meta({ id: 'Session' });
export const sessionSchema = z
  .object({
    ...sessionFields,
    usedProxy: z
      .object({ id: z.string(), tier, country })
      .nullable()
      .describe('The proxy that it keeps; null before it had one.'),
    userAgent: z.string().nullable().describe('Whose browser it says it is; null before it had to be one.'),
    cookies: z.array(z.object({ name: z.string(), domain: z.string() })).describe('Without their values.'),
    storage: z.array(z.object({ origin: z.string(), items: z.number().int() })),
    dropped: z
      .object({ cookies: z.number().int(), origins: z.number().int() })
      .describe('What did not fit in and was left out, the longest unchanged first.'),
  })
  .meta({ id: 'SessionDetail' });

export const loginSchema = z
  .object({
    method: z
      .enum(LOGIN_METHODS)
      .describe(
        '`form`: the form was sent by plain HTTP. `browser`: a browser filled it in. `actions`: the steps of the request. ' +
          '`none`: the site did not ask, because the session is logged in or its credentials go along as headers.',
      ),
    finalUrl: z.string().describe('The page that the log-in led to.'),
    statusCode: z.number().int().nullable(),
    jobIds: z.array(z.string()).describe('The scrapes that it took, in their order.'),
    session: sessionSchema,
  })
  .meta({ id: 'Login' });

export const credentialViewSchema = z
  .object({
    name: z.string(),
    kind: z.enum(CREDENTIAL_KINDS),
    hosts: z.array(z.string()).describe('The only hosts it is sent to.'),
    createdAt: time,
    updatedAt: time,
    links: selfSchema,
  })
  .meta({ id: 'Credential' });

export function sessionEntryView(session: SessionEntry, now: number) {
  const { name, wish, requestCount, createdAt, lastUsedAt, expiresAt } = session;
  return {
    name,
    isExpired: hasEnded(session, now),
    ...wish,
    requestCount,
    createdAt: isoTime(createdAt),
    lastUsedAt: isoTimeOrNull(lastUsedAt),
    expiresAt: isoTime(expiresAt),
    links: selfLinks('sessions', name),
  };
}

export function sessionView(session: Session, now: number) {
  return {
    ...sessionEntryView(session, now),
    usedProxy: session.proxy,
    userAgent: session.identity?.userAgent ?? null,
    cookies: session.cookies.map(({ name, domain, isHostOnly }) => ({
      name,
      domain: isHostOnly ? domain : `.${domain}`,
    })),
    storage: Object.entries(session.localStorage).map(([origin, items]) => ({
      origin,
      items: Object.keys(items).length,
    })),
    dropped: session.dropped,
  };
}

export function loginView({ session, ...result }: LoginResult, now: number) {
  return { ...result, jobIds: [...result.jobIds], session: sessionView(session, now) };
}

export function credentialView({ name, kind, hosts, createdAt, updatedAt }: CredentialEntry) {
  const links = selfLinks('credentials', name);
  return { name, kind, hosts, createdAt: isoTime(createdAt), updatedAt: isoTime(updatedAt), links };
}

export type SessionEntryView = ReturnType<typeof sessionEntryView>;
export type SessionView = ReturnType<typeof sessionView>;
export type CredentialView = ReturnType<typeof credentialView>;
export type LoginView = ReturnType<typeof loginView>;
