import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Settings } from '../config/settings.ts';
import { ScrapifieError } from '../errors/scrapifie-error.ts';
import { invalidRequest } from '../jobs/invalid-request.ts';
import type { AccountId } from '../model/ids.ts';
import type { AuditStore } from '../ports/audit-store.ts';

/**
 * Which e-mail addresses may be used. Before an address gets mail of an account, its owner confirms it by a link that is
 * sent there. Addresses and domains that the operator names in the settings need no confirmation.
 */
export interface MailRules {
  /** Whether the operator allows the address. */
  isAllowed(address: string): boolean;
  /** Where links lead; empty when the settings do not say, and then only allowed addresses can be used. */
  readonly origin: string;
}

/** The event of a confirmation. It is sent to one address and never to other webhooks. */
export const CONFIRM_EVENT = 'webhook.confirm';
const ACTION = 'webhook.confirm-mail';
const DAY_MS = 86_400_000;
/** Confirmations that may be sent within a day: to one address, for one account, and altogether. */
const MOST_PER_ADDRESS = 3;
const MOST_PER_ACCOUNT = 20;
const MOST_PER_DAY = 1_000;

/** Returns null when no server for e-mail is configured. A domain in the settings stands for its subdomains as well. */
export function mailRulesOf({
  smtpUrl,
  mailAllowed,
  publicUrl,
}: Pick<Settings, 'smtpUrl' | 'mailAllowed' | 'publicUrl'>): MailRules | null {
  if (smtpUrl === undefined) return null;
  const entries = mailAllowed
    .split(',')
    .map((entry) => entry.trim().toLowerCase().replace(/^@/, ''))
    .filter((entry) => entry !== '');
  return {
    origin: publicUrl?.replace(/\/+$/, '') ?? '',
    isAllowed(address) {
      const lower = address.toLowerCase();
      const domain = lower.slice(lower.lastIndexOf('@') + 1);
      return entries.some((entry) =>
        entry.includes('@') ? entry === lower : domain === entry || domain.endsWith(`.${entry}`),
      );
    },
  };
}

export const newConfirmToken = (): string => randomBytes(24).toString('base64url');

export const isConfirmToken = (given: string, token: string): boolean =>
  timingSafeEqual(createHash('sha256').update(given).digest(), createHash('sha256').update(token).digest());

export const confirmLink = (origin: string, account: string, webhook: string, token: string): string =>
  `${origin}/confirm-mail/${encodeURIComponent(account)}/${encodeURIComponent(webhook)}/${token}`;

/** Throws VALIDATION_FAILED where an address would have to be confirmed and no link can be made. */
export function requireConfirmable({ origin }: MailRules): void {
  if (origin !== '') return;
  const message =
    'Must be confirmed by a link, for which the operator has to set SCRAPIFIE_PUBLIC_URL; or be allowed by SCRAPIFIE_MAIL_ALLOWED.';
  throw invalidRequest([{ field: 'url', message }]);
}

/**
 * Counts a confirmation in, by an entry of the audit log, which all processes share. Throws RATE_LIMITED beyond the limits
 * of a day. The log has a hash of the address only. Requests at the same moment may exceed the limits by a few.
 */
export async function countConfirmation(
  store: AuditStore,
  request: { readonly account: AccountId; readonly webhook: string; readonly address: string },
  now: number,
): Promise<void> {
  const { account, webhook } = request;
  const address = createHash('sha256').update(request.address.toLowerCase()).digest('hex');
  const { items } = await store.listAudit({ action: ACTION, since: now - DAY_MS, limit: MOST_PER_DAY });
  const toAddress = items.filter(({ details }) => details.address === address).length;
  const ofAccount = items.filter(({ details }) => details.account === account).length;
  if (toAddress >= MOST_PER_ADDRESS || ofAccount >= MOST_PER_ACCOUNT || items.length >= MOST_PER_DAY) {
    throw new ScrapifieError(
      'RATE_LIMITED',
      `Too many confirmations were sent today: ${MOST_PER_ADDRESS} to one address and ${MOST_PER_ACCOUNT} for one account are the most. Try again tomorrow.`,
      { retryAfterMs: DAY_MS },
    );
  }
  const details = { account, address };
  await store.audit([{ at: now, actor: account, action: ACTION, target: webhook, details }]);
}
