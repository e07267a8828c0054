import type { FastifyRequest } from 'fastify';
import { COMMAND_LINE, credentialAccessOf } from '../../capabilities/accounts/api-key.ts';
import { allows } from '../../capabilities/accounts/scopes.ts';
import type { ScheduleOwner } from '../../capabilities/schedules/schedules.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AccountId, KeyId } from '../../core/model/ids.ts';
import type { FoundKey } from '../../core/ports/key-store.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The key the request came with; null on open routes. */
    key: FoundKey | null;
    /** The secret of the sign-in that the key is known by; null when the request brought the key itself. */
    signIn: string | null;
  }
}

/** On routes that need a key there always is one. */
export function accountOf(request: FastifyRequest): AccountId {
  return apiKeyOf(request).accountId;
}

export function apiKeyOf(request: FastifyRequest): FoundKey {
  if (request.key === null) throw new ScrapifieError('UNAUTHENTICATED', 'This call needs an API key.');
  return request.key;
}

/** Whether the caller is a command of this very process: its operator, without an address and a key of its own. */
export const isCommandLine = (request: FastifyRequest): boolean => apiKeyOf(request).id === COMMAND_LINE;

/** Where the caller is, for the audit log; a command of this process has no address. */
export const placeOfCaller = (request: FastifyRequest): { readonly address?: string } =>
  isCommandLine(request) ? {} : { address: request.ip };

/** On whose behalf a schedule or a monitor runs its jobs. */
export function ownerOf(request: FastifyRequest): ScheduleOwner {
  const key = apiKeyOf(request);
  const owner = { accountId: key.accountId, credentials: credentialAccessOf(key) };
  return isCommandLine(request) ? owner : { ...owner, keyId: key.id };
}

/** The actor that starts a job, for the audit log and the usage of the key. */
export function starterOf(request: FastifyRequest): { actor: string; address: string; keyId: KeyId } {
  const { id } = apiKeyOf(request);
  return { actor: id, address: request.ip, keyId: id };
}

/** Whether the key may see what stored credentials give access to. */
export const mayReadPrivate = (request: FastifyRequest): boolean =>
  allows(apiKeyOf(request).scopes, 'credentials:read');

/** A name or address with or without a port; nothing that could be more than that. */
const HOST = /^(?:[\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;

/**
 * Where the client reached this server, for addresses in answers to it. What a proxy in between says is believed:
 * a client that sends a false one only misleads itself. Empty when no valid origin was sent, and for commands of this
 * process: links are paths then.
 */
export function originOf({ headers, protocol, host, key }: FastifyRequest): string {
  if (key?.id === COMMAND_LINE) return '';
  const forwardedHost = firstOf(headers['x-forwarded-host']);
  const name = forwardedHost ?? host;
  if (name === undefined || !HOST.test(name)) return '';
  const forwardedScheme = firstOf(headers['x-forwarded-proto']);
  const scheme = forwardedScheme === 'http' || forwardedScheme === 'https' ? forwardedScheme : protocol;
  return `${scheme}://${name}`;
}

function firstOf(header: string | string[] | undefined): string | undefined {
  const text = Array.isArray(header) ? header[0] : header;
  return text?.split(',', 1)[0]?.trim();
}
