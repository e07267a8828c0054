import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { WebhookFormat } from '../../src/core/ports/webhook-store.ts';
import { type DeliveryWorld, openDeliveryWorld } from './delivery-world.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { type SmtpServer, startSmtpServer } from './smtp-server.ts';

const ORIGIN = 'https://scrapifie.example';
const JOB = 'job-1';
const LINK = `${ORIGIN}/v1/jobs/${JOB}`;
let receiver: Receiver;
let smtp: SmtpServer;
let world: DeliveryWorld;

beforeAll(async () => {
  receiver = await startReceiver();
  smtp = await startSmtpServer();
});
afterAll(async () => {
  await receiver.close();
  await smtp.close();
});
beforeEach(async () => {
  world = await openDeliveryWorld({
    publicUrl: ORIGIN,
    smtpUrl: `smtp://user:pass%20word@127.0.0.1:${smtp.port}`,
  });
  receiver.received.length = 0;
  smtp.mails.length = 0;
  smtp.refuse(null);
  smtp.hang(false);
});
afterEach(() => world.close());

/** What a chat was sent for the end of a job. */
async function post(format: WebhookFormat, path = '/hook', data: Record<string, unknown> = {}) {
  const url = `${receiver.url}${path}`;
  const { webhook } = await world.webhooks.create(world.account, { url, events: ['*'], format });
  const counters = { pages: 12, failed: 3, denied: 0 };
  await world.tell('job.partially_completed', JOB, { kind: 'crawl', counters, stopReason: null, ...data });
  await world.send();
  await world.webhooks.delete(world.account, webhook.id);
  const [sent] = receiver.received;
  return { sent, body: JSON.parse(sent?.body ?? '{}') as Record<string, never> };
}

describe('messages for people', () => {
  it('are sent to Slack as text and a section with a link', async () => {
    const { sent, body } = await post('slack');
    expect(sent?.headers['content-type']).toBe('application/json');
    expect(sent?.headers['webhook-signature']).toBeUndefined();
    expect(body).toEqual({
      text: `The crawl of ${JOB} is completed in part: 12 pages, 3 failed`,
      blocks: [
        {
          type: 'section',
          text: {
            type: 'mrkdwn',
            text: `*<${LINK}|The crawl of ${JOB} is completed in part>*\n12 pages, 3 failed`,
          },
        },
      ],
    });
  });

  it('are sent to Discord as an embed that mentions nobody', async () => {
    const { body } = await post('discord');
    expect(body).toMatchObject({
      allowed_mentions: { parse: [] },
      embeds: [
        { title: expect.stringContaining('completed in part'), url: LINK, description: '12 pages, 3 failed' },
      ],
    });
    const [embed] = (body.embeds ?? []) as { color: number; timestamp: string }[];
    expect(embed?.color).toBeGreaterThan(0);
    expect(Date.parse(embed?.timestamp ?? '')).toBeGreaterThan(0);
  });

  it('are sent to Teams as an adaptive card', async () => {
    const { body } = await post('teams');
    expect(body).toMatchObject({
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          contentUrl: null,
          content: {
            type: 'AdaptiveCard',
            version: '1.4',
            body: [{ type: 'TextBlock' }, { type: 'TextBlock', text: '12 pages, 3 failed' }],
            actions: [{ type: 'Action.OpenUrl', url: LINK }],
          },
        },
      ],
    });
  });

  it('are published to the topic of an ntfy server', async () => {
    const { sent, body } = await post('ntfy', '/alerts');
    expect(sent?.path).toBe('/');
    expect(body).toMatchObject({
      topic: 'alerts',
      title: expect.stringContaining('completed in part'),
      message: '12 pages, 3 failed',
      tags: ['warning'],
      priority: 3,
      click: LINK,
    });
  });

  it('let nothing that pages contain link, mention or format', async () => {
    const evil = '<!channel> <https://evil.example|click> @everyone **bold** `code`';
    const { body } = await post('slack', '/hook', { stopReason: evil });
    expect(JSON.stringify(body)).not.toMatch(/<!channel>|<https:\/\/evil/);
    receiver.received.length = 0;
    const { body: embed } = await post('discord', '/other', { stopReason: evil });
    expect(JSON.stringify(embed)).not.toMatch(/[^\\]\*\*bold/);
    expect(embed).toMatchObject({ allowed_mentions: { parse: [] } });
  });
});

describe('e-mail', () => {
  const create = (url = 'mailto:ops@example.org') =>
    world.webhooks.create(world.account, { url, events: ['job.*'] });

  it('is sent by the server of the settings, with a log-in, once', async () => {
    const { webhook } = await create();
    await world.tell('job.failed', JOB, { kind: 'scrape', counters: { pages: 0 } });
    await world.send();
    const [delivery] = await world.deliveries(webhook.id);
    expect(delivery).toMatchObject({ state: 'delivered', attempts: 1 });
    expect(delivery?.log[0]).toMatchObject({ statusCode: 250, answer: '250 queued as 1' });
    const [mail, ...more] = smtp.mails;
    expect(more).toEqual([]);
    expect(mail).toMatchObject({ from: 'bot@example.com', to: ['ops@example.org'], login: 'user:pass word' });
    expect(mail?.data).toMatch(/^From: Scrapifie <bot@example\.com>\r\n/m);
    expect(mail?.data).toMatch(/^Subject: The scrape of job-1 has failed\r\n/m);
    expect(mail?.data).toMatch(/^Auto-Submitted: auto-generated\r\n/m);
    expect(mail?.data).toContain(`Message-ID: <${delivery?.event.id}@127.0.0.1>`);
    expect(mail?.data).toContain(LINK);
  });

  it('has no headers but its own, whatever a page contains', async () => {
    await create();
    const kind = 'crawl\r\nBcc: all@example.org\r\n\r\nhello';
    await world.tell('job.failed', JOB, { kind, counters: {} });
    await world.send();
    expect(smtp.mails[0]?.to).toEqual(['ops@example.org']);
    expect(smtp.mails[0]?.data).not.toMatch(/^Bcc:/m);
  });

  it('is tried again when the server is busy, and not when it refuses the address for good', async () => {
    const { webhook } = await create();
    smtp.refuse('451 try again later');
    const { id } = await world.webhooks.test(world.account, webhook.id);
    await world.send();
    expect(await world.webhooks.delivery(world.account, id)).toMatchObject({ state: 'pending', attempts: 1 });
    smtp.refuse(null);
    expect(await world.sendUntilEnd(id)).toMatchObject({ state: 'delivered', attempts: 2 });
    smtp.refuse('550 no such user');
    const other = await world.webhooks.test(world.account, webhook.id);
    await world.send();
    expect(await world.webhooks.delivery(world.account, other.id)).toMatchObject({
      state: 'failed',
      reason: 'The server refused the message.',
      log: [{ statusCode: 550 }],
    });
    expect((await world.webhooks.get(world.account, webhook.id)).disabledAt).toBeNull();
  });

  it('gives up on a server that does not answer', async () => {
    smtp.hang(true);
    const { webhook } = await create();
    const { id } = await world.webhooks.test(world.account, webhook.id);
    await world.send();
    const delivery = await world.webhooks.delivery(world.account, id);
    expect(delivery).toMatchObject({ state: 'pending', attempts: 1, log: [{ statusCode: null }] });
  });

  it('is refused where there is no server for it', async () => {
    const without = await openDeliveryWorld();
    const request = { url: 'mailto:ops@example.org', events: ['job.*'] };
    await expect(without.webhooks.create(without.account, request)).rejects.toThrow('SCRAPIFIE_SMTP_URL');
    await without.close();
  });
});

describe('an e-mail address that has to be confirmed', () => {
  it('gets the link and nothing else until it is opened', async () => {
    const smtpUrl = `smtp://user:pass%20word@127.0.0.1:${smtp.port}`;
    const own = await openDeliveryWorld({ publicUrl: ORIGIN, smtpUrl, isMailAllowed: () => false });
    try {
      const { webhook } = await own.webhooks.create(own.account, {
        url: 'mailto:ada@people.example',
        events: ['*'],
      });
      await own.tell('job.completed', JOB, { kind: 'crawl', counters: { pages: 1 } });
      await own.send();
      expect(smtp.mails).toHaveLength(1);
      const text = smtp.mails[0]?.data ?? '';
      const link = new RegExp(`${ORIGIN}/confirm-mail/default/${webhook.id}/([\\w-]+)`).exec(
        text.replace(/=\r?\n/g, ''),
      );
      expect(link).not.toBeNull();
      const [delivery] = await own.deliveries(webhook.id);
      expect(delivery).toMatchObject({ state: 'delivered' });
      const shown = await own.webhooks.delivery(own.account, String(delivery?.id));
      expect(shown.request?.body).toBe('[hidden]');
      await own.webhooks.confirm('default', webhook.id, link?.[1] ?? '');
      await own.tell('job.completed', 'job-2', { kind: 'crawl', counters: { pages: 1 } });
      await own.send();
      expect(smtp.mails).toHaveLength(2);
    } finally {
      await own.close();
    }
  });
});
