import type { Engine } from '../../fetch/engine.ts';
import type { Notice } from './notice.ts';

/** A channel that a plug-in adds to those of webhooks: an SMS, a pager, a queue of messages. */
export interface Deliverer {
  /** Within the plug-in; webhooks name it as their format, with the name of the plug-in in front. */
  readonly name: string;
  readonly says: string;
  /** Why this address is none of the channel, as a sentence; null when it is one. Left out: every URL is. */
  refuse?(url: string): string | null;
  /**
   * Sends one message, and resolves when the receiver has it. An error makes the delivery try again, as the schedule of
   * webhooks says; a ScrapifieError that is never to be repeated (`retry: never` in docs/errors.md) ends it.
   */
  send(message: OutgoingMessage): Promise<void>;
}

export type Deliverers = ReadonlyMap<string, Deliverer>;

export interface OutgoingMessage {
  /** Id of the event. Each attempt has the same, so that a receiver can recognize a repeated message. */
  readonly id: string;
  /** Type of the event, such as `job.completed`. */
  readonly type: string;
  /** The address that the webhook was made with, and its headers. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The event for people. */
  readonly notice: Notice;
  /** The event as the JSON that webhooks are sent. */
  readonly json: string;
  /** Aborted when the time of the attempt is over; the attempt has failed then, whatever `send` does. */
  readonly signal: AbortSignal;
  /** Posts over HTTP as webhooks do: behind the address guard, without following redirects. Any status is an answer. */
  post(
    url: string,
    body: string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ readonly statusCode: number; readonly text: string }>;
}

const MOST_ANSWER_BYTES = 16_384;

/** `post` of a message. */
export const poster =
  (web: Engine, timeoutMs: number, signal: AbortSignal): OutgoingMessage['post'] =>
  async (url, body, headers = {}) => {
    const response = await web.fetch({
      url,
      method: 'POST',
      headers,
      cookies: {},
      body,
      timeoutMs,
      maxBodyBytes: MOST_ANSWER_BYTES,
      isCutAtLimit: true,
      maxRedirects: 1,
      conditional: null,
      onRedirect: async () => 'stop',
      signal,
    });
    return { statusCode: response.statusCode, text: Buffer.from(response.body).toString('utf8') };
  };
