export { Scrapifie } from './client.ts';
export * from './errors.ts';
export type { EventOptions, WaitOptions } from './jobs.ts';
export type { List } from './lists.ts';
export type { RetryOptions } from './retries.ts';
export type { StreamedEvent } from './streams.ts';
export type { CallOptions, ClientOptions } from './transport.ts';
export type { Body, Data, Item, Job, Page, Query } from './types.ts';
export { type VerifyOptions, verifyWebhook, type WebhookEvent } from './webhooks.ts';
