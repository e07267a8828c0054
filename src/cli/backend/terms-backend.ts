import type { z } from 'zod';
import type { creditPlanSchema, GrantRequest } from '../../capabilities/accounts/credit-admin.ts';
import type { RetentionView, retentionRequest } from '../../capabilities/retention/retention-admin.ts';
import type { creditEntryView, creditsView } from '../../capabilities/views/credit-view.ts';
import { urlPart } from '../../lib/url-part.ts';
import type { ApiClient } from './api-client.ts';

export type CreditsView = ReturnType<typeof creditsView>;
export type CreditEntryView = ReturnType<typeof creditEntryView>;

/** What accounts may spend, as the operator reads and changes it. */
export interface BackendCredits {
  /** Null when the account is not limited. */
  get(account: string): Promise<CreditsView | null>;
  limit(account: string, plan: z.output<typeof creditPlanSchema>): Promise<CreditsView | null>;
  lift(account: string): Promise<void>;
  /** The same `key` grants once. */
  grant(account: string, request: GrantRequest, key: string | null): Promise<CreditEntryView>;
  entries(account: string, limit: number): Promise<readonly CreditEntryView[]>;
}

/**
 * How long data is kept. Without an account it is what the account of the key says itself, on a data folder that of the
 * operator; with one it is what the operator says for that account.
 */
export interface BackendRetention {
  get(account: string | undefined): Promise<RetentionView>;
  set(account: string | undefined, request: z.output<typeof retentionRequest>): Promise<RetentionView>;
}

export function termsOver(client: ApiClient): {
  readonly credits: BackendCredits;
  readonly retention: BackendRetention;
} {
  const path = (id: string, what: string) => `/v1/accounts/${urlPart(id)}/${what}`;
  const limits = async (answer: Promise<{ readonly credits: CreditsView | null }>) => (await answer).credits;
  const retentionPath = (account: string | undefined) =>
    account === undefined ? '/v1/account/retention' : path(account, 'retention');
  return {
    credits: {
      get: (account) => limits(client.call('GET', path(account, 'credits'))),
      limit: (account, plan) => limits(client.call('PUT', path(account, 'credits'), plan)),
      lift: async (account) => void (await client.call('DELETE', path(account, 'credits'))),
      grant: (account, request, key) =>
        client.call(
          'POST',
          path(account, 'credits'),
          request,
          key === null ? {} : { 'idempotency-key': key },
        ),
      entries: (account, limit) =>
        Array.fromAsync(client.list<CreditEntryView>(path(account, 'credits/entries'), limit)),
    },
    retention: {
      get: (account) => client.call('GET', retentionPath(account)),
      set: (account, request) => client.call('PUT', retentionPath(account), request),
    },
  };
}
