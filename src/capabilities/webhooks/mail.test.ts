import { describe, expect, it } from 'vitest';
import { settingsSchema } from '../../core/config/settings.ts';
import { readMailto } from './mail.ts';
import { readTarget } from './webhook-request.ts';

describe('the address of an e-mail', () => {
  it.each([
    ['mailto:ada@people.example', 'ada@people.example'],
    ['mailto:ada.l+shop@people.example', 'ada.l+shop@people.example'],
    ['mailto:J%C3%BCrgen@people.example', 'Jürgen@people.example'],
    ['MAILTO:ada@people.example', 'ada@people.example'],
  ])('%s is %s', (url, address) => expect(readMailto(url)).toBe(address));

  it.each([
    'mailto:ada\n@people.example',
    'mailto:ada@people.example\r\nBcc:all@people.example',
    'mailto:ada%0d%0aBcc:all@people.example',
    'mailto:ada%0A@people.example',
    'mailto:ada%250a@people.example',
    'mailto:ada%00@people.example',
    'mailto:ada%01@people.example',
    'mailto:ada%7f@people.example',
    'mailto:ada%C2%85@people.example',
    'mailto:ada%E2%80%A8@people.example',
    'mailto:ada%E2%80%AE@people.example',
    'mailto:ada%09@people.example',
    'mailto:ada%20b@people.example',
    'mailto:\tada@people.example',
    ' mailto:ada@people.example',
    'mailto:ada%FF@people.example',
    'mailto:ada@people.example,all@people.example',
    'mailto:Ada%20%3Call%40people.example%3E',
    'mailto:ada@people.example?bcc=all@people.example',
    'mailto:ada@people.example#all@people.example',
    'mailto:ada@people.example%0a',
  ])('%j is refused as a webhook', (url) => {
    expect(() => readTarget(url, undefined)).toThrow(/Must be/);
  });

  it('of the sender has no line break', () => {
    const from = 'Scrapifie\r\nBcc: all@people.example <bot@example.com>';
    const read = settingsSchema.safeParse({ smtpFrom: from });
    expect(read.error?.issues[0]?.path).toEqual(['smtpFrom']);
  });
});
