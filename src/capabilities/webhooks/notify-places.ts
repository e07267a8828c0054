import { isScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { WebhookFormat } from '../../core/ports/webhook-store.ts';
import { type FieldProblem, invalidRequest } from '../jobs/request/invalid-request.ts';
import type { NotifyRequest } from '../monitors/monitor-request.ts';

/** A place that `notify` of a monitor names, in the form of a webhook. */
export interface NotifyPlace {
  readonly field: string;
  readonly format: WebhookFormat;
  readonly url: string;
  readonly secret?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

const CHATS = ['slack', 'discord', 'teams', 'ntfy'] as const;

export function notifyPlaces(notify: NotifyRequest): NotifyPlace[] {
  const { webhook, email } = notify;
  const chats = CHATS.flatMap((format): NotifyPlace[] => {
    const url = notify[format];
    return url === undefined ? [] : [{ field: `notify.${format}`, format, url }];
  });
  return [
    ...(webhook === undefined ? [] : [{ field: 'notify.webhook.url', format: 'json' as const, ...webhook }]),
    ...(email === undefined
      ? []
      : [{ field: 'notify.email', format: 'email' as const, url: `mailto:${email}` }]),
    ...chats,
  ];
}

/** Problems of an address are those of the field that has it. */
export function inField<T>(field: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!isScrapifieError(error) || !Array.isArray(error.details)) throw error;
    const [problem] = error.details as FieldProblem[];
    throw invalidRequest([{ field, message: problem?.message ?? error.message }]);
  }
}
