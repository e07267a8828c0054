import { isPluginPart, type PluginPart } from '../../core/config/plugin-part.ts';
import { asScrapifieError, isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type {
  AttemptRecord,
  DeliveryEvent,
  SentRequest,
  StoredWebhook,
} from '../../core/ports/webhook-store.ts';
import { activeTraceparent } from '../../core/tracing/tracing.ts';
import { parseRetryAfter } from '../../crawl/politeness/retry-after.ts';
import type { Engine, FetchResponse } from '../../fetch/engine.ts';
import { defined } from '../../lib/defined.ts';
import { within } from '../../lib/waits.ts';
import { type ChatFormat, chatPost } from './chat-post.ts';
import { type Deliverers, poster } from './deliverer.ts';
import { CONFIRM_EVENT, confirmLink, type Mailer } from './mail.ts';
import { type EventContents, type MessageShape, messageOf, type PublicOrigin } from './message.ts';
import { type Notice, noticeOf } from './notice.ts';
import { mailAddressOf } from './webhook-request.ts';
import { signatureHeaders, validSecrets, type WebhookData } from './webhook-secrets.ts';

/** From the beginning of the connection to the last byte of the answer. */
export const ATTEMPT_MS = 10_000;
/** A receiver may answer in any format and in any language: only the status counts, and the text is shown. */
export const SENDER_HEADERS: readonly string[] = ['accept', '*/*', 'accept-encoding', 'gzip, deflate'];
const MOST_ANSWER_BYTES = 16_384;
/** What is kept for showing. */
const SHOWN_ANSWER_CHARS = 2_000;
const SHOWN_BODY_CHARS = 16_000;
const HIDDEN = '[hidden]';

export interface SenderParts {
  /** Sends the requests, behind the address guard. */
  readonly web: Engine;
  /** Sends e-mail; null when no server for e-mail is configured. */
  readonly mailer: Mailer | null;
  /** Channels of plug-ins, by full name. */
  readonly deliverers?: Deliverers;
  readonly origin: PublicOrigin;
  readonly now: () => number;
  /** By their names; a webhook names the one that its messages have. */
  readonly shapes?: Readonly<Record<string, MessageShape>>;
  /** For one attempt by HTTP; `ATTEMPT_MS` unless given. */
  readonly attemptMs?: number;
}

export interface Outgoing {
  readonly webhook: StoredWebhook;
  readonly data: WebhookData;
  readonly event: DeliveryEvent;
  readonly contents: EventContents;
  /** Asked right before the request leaves; false: it must not. */
  readonly mayStart: () => boolean;
}

export interface SentAttempt {
  readonly record: AttemptRecord;
  readonly request: SentRequest;
  /**
   * again: as the schedule says. over: no attempt could do better. gone: the receiver wants nothing any more. unconfirmed:
   * nothing was sent, because the owner of the e-mail address has not confirmed it.
   */
  readonly result: 'delivered' | 'again' | 'over' | 'gone' | 'unconfirmed';
  readonly retryAfterMs: number | null;
}

/** Makes one attempt. Never throws for what the receiver does. */
export async function sendAttempt(outgoing: Outgoing, parts: SenderParts): Promise<SentAttempt> {
  const { format } = outgoing.webhook;
  if (format === 'email') return sendMail(outgoing, parts);
  return isPluginPart(format) ? sendByPlugin(format, outgoing, parts) : post(format, outgoing, parts);
}

async function post(
  format: 'json' | ChatFormat,
  outgoing: Outgoing,
  { web, origin, now, shapes = {}, attemptMs = ATTEMPT_MS }: SenderParts,
): Promise<SentAttempt> {
  const { webhook, data, event, contents, mayStart } = outgoing;
  const at = now();
  const isJson = format === 'json';
  const secrets = validSecrets(data, at);
  const { name = '', note = {} } = data.shape ?? {};
  const shaped = isJson
    ? shapes[name]?.({ event, contents, webhookId: webhook.id, note, secrets })
    : undefined;
  const { url, body } = isJson
    ? { url: data.url, body: shaped?.body ?? messageOf(event, contents, origin) }
    : chatPost(format, noticeOf(event, contents, origin), data.url);
  const traceparent = isJson ? activeTraceparent() : undefined;
  const own = {
    'content-type': 'application/json',
    ...defined({ traceparent }),
    ...(isJson ? signatureHeaders({ id: event.id, at, body, secrets }) : {}),
    ...shaped?.headers,
  };
  const hidden = Object.fromEntries(Object.keys(data.headers).map((name) => [name, HIDDEN]));
  const request = sentRequest(webhook.target, { ...own, ...hidden }, body);
  const started = performance.now();
  const recordOf = (rest: Omit<AttemptRecord, 'at' | 'ms'>): AttemptRecord => ({
    at,
    ms: Math.round(performance.now() - started),
    ...rest,
  });
  try {
    const response = await web.fetch({
      url,
      method: 'POST',
      headers: { ...data.headers, ...own },
      cookies: {},
      body,
      timeoutMs: attemptMs,
      maxBodyBytes: MOST_ANSWER_BYTES,
      isCutAtLimit: true,
      maxRedirects: 1,
      conditional: null,
      // An answer that leads elsewhere is an answer: events go where their owner said, and nowhere else.
      onRedirect: async () => 'stop',
      mayStart,
    });
    const { statusCode, headers, redirectedTo } = response;
    const error = redirectedTo === null ? null : 'Redirects are not followed.';
    return {
      record: recordOf({ statusCode, error, answer: textOf(response) }),
      request,
      result: resultOf(statusCode),
      retryAfterMs: parseRetryAfter([headers['retry-after']].flat()[0], now()),
    };
  } catch (failure) {
    const { code, message } = asScrapifieError(failure);
    const record = recordOf({
      statusCode: null,
      error: `${code}: ${message}`.slice(0, SHOWN_ANSWER_CHARS),
      answer: '',
    });
    return { record, request, result: 'again', retryAfterMs: null };
  }
}

function resultOf(statusCode: number): SentAttempt['result'] {
  if (statusCode >= 200 && statusCode < 300) return 'delivered';
  return statusCode === 410 ? 'gone' : 'again';
}

/** By a channel of a plug-in. What it throws, or that it does not end in time, costs this attempt. */
async function sendByPlugin(
  format: PluginPart,
  outgoing: Outgoing,
  parts: SenderParts,
): Promise<SentAttempt> {
  const { web, origin, now, attemptMs = ATTEMPT_MS, deliverers } = parts;
  const { webhook, data, event, contents } = outgoing;
  const at = now();
  const json = messageOf(event, contents, origin);
  const hidden = Object.fromEntries(Object.keys(data.headers).map((name) => [name, HIDDEN]));
  const request = sentRequest(webhook.target, hidden, json);
  const started = performance.now();
  const endOf = (result: SentAttempt['result'], error: string | null): SentAttempt => {
    const ms = Math.round(performance.now() - started);
    const record = {
      at,
      ms,
      statusCode: null,
      error: error?.slice(0, SHOWN_ANSWER_CHARS) ?? null,
      answer: '',
    };
    return { record, request, result, retryAfterMs: null };
  };
  const deliverer = deliverers?.get(format);
  if (deliverer === undefined) {
    const error = `UNSUPPORTED_OPTION: No plug-in of this process has the channel ${format} (SCRAPIFIE_PLUGINS).`;
    return endOf('again', error);
  }
  const late = new AbortController();
  const message = {
    ...{ id: event.id, type: event.type, url: data.url, headers: data.headers, json },
    notice: noticeOf(event, contents, origin),
    signal: late.signal,
    post: poster(web, attemptMs, late.signal),
  };
  try {
    const failure = () =>
      new ScrapifieError('PLUGIN_FAILED', `The channel ${format} took longer than ${attemptMs} ms.`);
    // In a function of its own, so that what it throws at once is caught as well.
    await within(attemptMs, (async () => deliverer.send(message))(), failure);
    return endOf('delivered', null);
  } catch (error) {
    late.abort();
    if (isScrapifieError(error)) {
      return endOf(error.spec.retry === 'never' ? 'over' : 'again', `${error.code}: ${error.message}`);
    }
    const words = error instanceof Error ? error.message : String(error);
    return endOf('again', `PLUGIN_FAILED: The channel ${format} threw: ${words}`);
  }
}

async function sendMail(outgoing: Outgoing, { mailer, origin, now }: SenderParts): Promise<SentAttempt> {
  const { webhook, data, event, contents } = outgoing;
  const at = now();
  const isConfirmation = event.type === CONFIRM_EVENT;
  if (isConfirmation !== (data.confirm !== undefined)) return notSent(webhook, isConfirmation, at);
  const notice =
    data.confirm === undefined
      ? noticeOf(event, contents, origin)
      : confirmationNotice(confirmLink(origin, webhook.accountId, webhook.id, data.confirm), at);
  // The link is for the owner of the address, and not for the account that reads its deliveries.
  const shown = isConfirmation ? HIDDEN : notice.text;
  const request = sentRequest(webhook.target, { subject: notice.title }, shown);
  const started = performance.now();
  const { code, answer, error } =
    mailer === null
      ? { code: null, answer: '', error: 'There is no server for e-mail: set SCRAPIFIE_SMTP_URL.' }
      : await mailer.send({ to: mailAddressOf(data.url), notice, id: event.id });
  const ms = Math.round(performance.now() - started);
  const record = { at, ms, statusCode: code, error, answer: answer.slice(0, SHOWN_ANSWER_CHARS) };
  // A server that refuses a message for good refuses it the next time as well.
  const isOver = code !== null && code >= 500;
  return {
    record,
    request,
    result: error === null ? 'delivered' : isOver ? 'over' : 'again',
    retryAfterMs: null,
  };
}

/** No mail goes to an address that is not confirmed, and no link to one that is. */
function notSent({ target }: StoredWebhook, isConfirmed: boolean, at: number): SentAttempt {
  const error = isConfirmed ? 'The address is confirmed already.' : 'The address is not confirmed.';
  return {
    record: { at, ms: 0, statusCode: null, error, answer: '' },
    request: sentRequest(target, {}, ''),
    result: isConfirmed ? 'over' : 'unconfirmed',
    retryAfterMs: null,
  };
}

function confirmationNotice(link: string, at: number): Notice {
  const title = 'Confirm that you want these notifications';
  const text = [
    'A user of Scrapifie, a web scraping service, wants to have notifications sent to this address.',
    'Nothing more is sent unless you open this link and confirm it. If you do not want them, do nothing.',
  ].join('\n');
  return { title, text, link, level: 'neutral', at };
}

const sentRequest = (target: string, headers: Record<string, string>, body: string): SentRequest => ({
  target,
  headers,
  body: body.slice(0, SHOWN_BODY_CHARS),
  bodyBytes: Buffer.byteLength(body),
});

const textOf = ({ body }: FetchResponse) => Buffer.from(body).toString('utf8').slice(0, SHOWN_ANSWER_CHARS);
