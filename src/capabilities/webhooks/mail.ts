import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Settings } from '../../core/config/settings.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AccountId } from '../../core/model/ids.ts';
import type { AuditRecord, AuditStore } from '../../core/ports/audit-store.ts';
import { urlPart } from '../../lib/url-part.ts';
import { invalidRequest } from '../jobs/request/invalid-request.ts';
import type { Notice } from './notice.ts';

/** Sends notices by the SMTP server of the settings. */
export interface Mailer {
  send(mail: Mail): Promise<MailAnswer>;
  close(): void;
}

export interface Mail {
  readonly to: string;
  readonly notice: Notice;
  /** Equal in every attempt: a server that has the message already can tell. */
  readonly id: string;
}

export interface MailAnswer {
  /** Status code of SMTP; null when no answer came. */
  readonly code: number | null;
  readonly answer: string;
  /** Null when the server has accepted the message. */
  readonly error: string | null;
}

export interface MailerOptions {
  /** Address of the server: `smtp://user:password@host:587`, or `smtps://`. */
  readonly url: string;
  readonly from: string;
  readonly timeoutMs: number;
}

export function createMailer({ url, from, timeoutMs }: MailerOptions): Mailer {
  const { hostname } = new URL(url);
  const transports = new Set<Awaited<ReturnType<typeof openTransport>>>();

  return {
    async send({ to, notice: { title, text, link, at }, id }) {
      const transport = await openTransport(url, timeoutMs);
      transports.add(transport);
      // For the whole conversation: a server that answers a byte at a time must not hold it open.
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error('TIMEOUT')), timeoutMs);
      });
      try {
        const sent = transport.sendMail({
          from,
          // As an object it is taken as it is, and not read as a list of names and addresses.
          to: { name: '', address: to },
          subject: title,
          text: [text, ...(link === null ? [] : ['', link]), ''].join('\n'),
          date: new Date(at),
          messageId: `<${id}@${hostname}>`,
          headers: { 'Auto-Submitted': 'auto-generated' },
        });
        const { response } = await Promise.race([sent, late]);
        return { code: codeOf(response), answer: response, error: null };
      } catch (error) {
        const { responseCode, response, code, message } = error as MailError;
        return { code: responseCode ?? null, answer: response ?? '', error: code ?? message };
      } finally {
        clearTimeout(timer);
        transports.delete(transport);
        transport.close();
      }
    },
    close() {
      for (const transport of transports) transport.close();
    },
  };
}

/** Connects to the server and logs in, without sending anything. Throws what the server, or the network, has said. */
export async function checkMailServer({ url, timeoutMs }: Omit<MailerOptions, 'from'>): Promise<void> {
  const transport = await openTransport(url, timeoutMs);
  try {
    await transport.verify();
  } finally {
    transport.close();
  }
}

/** Loaded with the first use: most installations send no e-mail. */
async function openTransport(url: string, timeoutMs: number) {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    url,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

interface MailError {
  readonly responseCode?: number;
  readonly response?: string;
  readonly code?: string;
  readonly message: string;
}

const codeOf = (response: string) => Number.parseInt(response, 10) || null;

/**
 * One address, as it is after the percent signs of `mailto:` are decoded. It has no control, format or space character, no
 * character that separates addresses, and nothing that a second decoding would turn into such a character.
 */
const MAIL_ADDRESS =
  /^(?!.*%[0-9a-f]{2})[^\p{C}\p{Z}@,;:<>()[\]"\\]{1,64}@[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/iu;

/** The address of a `mailto:` URL; null when it is not exactly one address. */
export function readMailto(given: string): string | null {
  // The reader of URLs would leave out line breaks and tabs without a word.
  if (/[\p{C}\p{Z}]/u.test(given)) return null;
  const url = URL.parse(given);
  if (url === null || url.protocol !== 'mailto:' || /[?#]/.test(given)) return null;
  try {
    const address = decodeURIComponent(url.pathname);
    return MAIL_ADDRESS.test(address) ? address : null;
  } catch {
    return null;
  }
}

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
  `${origin}/confirm-mail/${urlPart(account)}/${urlPart(webhook)}/${token}`;

/** Throws VALIDATION_FAILED where an address would have to be confirmed and no link can be made. */
export function requireConfirmable({ origin }: MailRules): void {
  if (origin !== '') return;
  const message =
    'Must be confirmed by a link, for which the operator has to set SCRAPIFIE_PUBLIC_URL; or be allowed by SCRAPIFIE_MAIL_ALLOWED.';
  throw invalidRequest([{ field: 'url', message }]);
}

/** By store: the requests of one process are counted one after the other. */
const lastCounts = new WeakMap<AuditStore, Promise<unknown>>();

export interface ConfirmationCount {
  readonly account: AccountId;
  readonly webhook: string;
  readonly address: string;
  /** Id of the message, which no other confirmation has: its entry in the log is found by it. */
  readonly delivery: string;
}

/**
 * Counts a confirmation in, by an entry of the audit log, which all processes share. Throws RATE_LIMITED beyond the limits
 * of a day, however many requests come at the same moment: the entry is written first, and the log is one chain, so that
 * exactly the first entries of it are within the limits. What is beyond them already gets no entry, and requests of one
 * process take turns, so that a burst of them does not use up the limits of other accounts. The log has a hash of the
 * address only.
 */
export function countConfirmation(store: AuditStore, request: ConfirmationCount, now: number): Promise<void> {
  const counted = (lastCounts.get(store) ?? Promise.resolve()).then(() => countNext(store, request, now));
  lastCounts.set(
    store,
    counted.catch(() => undefined),
  );
  return counted;
}

async function countNext(store: AuditStore, request: ConfirmationCount, now: number): Promise<void> {
  const { account, webhook, delivery } = request;
  const address = createHash('sha256').update(request.address.toLowerCase()).digest('hex');
  /** The newest entries of a day; one more than there may be, so that the own one is always among them. */
  const newest = async () => {
    const query = { action: ACTION, since: now - DAY_MS, limit: MOST_PER_DAY + 1 };
    return (await store.listAudit(query)).items;
  };
  const requireRoom = (earlier: readonly AuditRecord[]): void => {
    const toAddress = earlier.filter(({ details }) => details.address === address).length;
    const ofAccount = earlier.filter(({ details }) => details.account === account).length;
    if (toAddress < MOST_PER_ADDRESS && ofAccount < MOST_PER_ACCOUNT && earlier.length < MOST_PER_DAY) return;
    throw new ScrapifieError(
      'RATE_LIMITED',
      `Too many confirmations were sent today: ${MOST_PER_ADDRESS} to one address and ${MOST_PER_ACCOUNT} for one account are the most. Try again tomorrow.`,
      { retryAfterMs: DAY_MS },
    );
  };

  requireRoom(await newest());
  const details = { account, address, delivery };
  await store.audit([{ at: now, actor: account, action: ACTION, target: webhook, details }]);
  const entries = await newest();
  const own = entries.findIndex((entry) => entry.details.delivery === delivery);
  // Without the own entry among the newest there are more behind it than a day may have.
  requireRoom(own === -1 ? entries : entries.slice(own + 1));
}
