import type { WEBHOOK_FORMATS } from '../../core/ports/webhook-store.ts';
import type { Notice } from './notice.ts';

/** What is posted where, for formats that people read. */
interface ChatPost {
  readonly url: string;
  readonly body: string;
}

export type ChatFormat = Exclude<(typeof WEBHOOK_FORMATS)[number], 'json' | 'email'>;

const COLORS: Readonly<Record<Notice['level'], number>> = {
  good: 0x2e_9e_4f,
  warning: 0xd9_a4_06,
  bad: 0xd1_34_2f,
  neutral: 0x6b_72_80,
};
const TEAMS_COLORS = { good: 'Good', warning: 'Warning', bad: 'Attention', neutral: 'Default' } as const;
const NTFY_TAGS = {
  good: 'white_check_mark',
  warning: 'warning',
  bad: 'x',
  neutral: 'information_source',
} as const;
const NTFY_DEFAULT = 3;
const NTFY_HIGH = 4;

/** The documented form of each service. Text of pages can neither link, mention nor format anything. */
const WRITERS: Readonly<Record<ChatFormat, (notice: Notice, url: string) => ChatPost>> = {
  slack: ({ title, text, link }, url) => {
    const shown = slackText(title);
    const head = link === null ? `*${shown}*` : `*<${link}|${shown}>*`;
    const section = { type: 'section', text: { type: 'mrkdwn', text: `${head}\n${slackText(text)}` } };
    return { url, body: JSON.stringify({ text: `${shown}: ${slackText(text)}`, blocks: [section] }) };
  },
  discord: ({ title, text, link, level, at }, url) => {
    const embed = {
      title: escapeMarkdown(title),
      description: escapeMarkdown(text),
      color: COLORS[level],
      timestamp: new Date(at).toISOString(),
      ...(link === null ? {} : { url: link }),
    };
    return { url, body: JSON.stringify({ embeds: [embed], allowed_mentions: { parse: [] } }) };
  },
  teams: ({ title, text, link, level }, url) => {
    const card = {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
      body: [
        {
          type: 'TextBlock',
          weight: 'Bolder',
          wrap: true,
          color: TEAMS_COLORS[level],
          text: escapeMarkdown(title),
        },
        { type: 'TextBlock', wrap: true, text: escapeMarkdown(text) },
      ],
      ...(link === null ? {} : { actions: [{ type: 'Action.OpenUrl', title: 'Open', url: link }] }),
    };
    const attachment = {
      contentType: 'application/vnd.microsoft.card.adaptive',
      contentUrl: null,
      content: card,
    };
    return { url, body: JSON.stringify({ type: 'message', attachments: [attachment] }) };
  },
  // Published as JSON to the root of the server: headers could not carry every title.
  ntfy: ({ title, text, link, level }, url) => {
    const { origin, pathname } = new URL(url);
    const message = {
      topic: pathname.slice(1),
      title,
      message: text,
      tags: [NTFY_TAGS[level]],
      priority: level === 'bad' ? NTFY_HIGH : NTFY_DEFAULT,
      ...(link === null ? {} : { click: link }),
    };
    return { url: `${origin}/`, body: JSON.stringify(message) };
  },
};

export const chatPost = (format: ChatFormat, notice: Notice, url: string): ChatPost =>
  WRITERS[format](notice, url);

/** Slack knows three characters; the others have no meaning without them, but for those of bold, italic and code. */
const slackText = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/[*_~`]/g, '\u200b$&');

const escapeMarkdown = (text: string) => text.replace(/[\\*_~`|>#[\]()<@]/g, '\\$&');
