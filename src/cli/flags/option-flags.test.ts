import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { crawlRequestSchema, scrapeRequestSchema } from '../../capabilities/jobs/request/job-request.ts';
import { readActions } from './command-inputs.ts';
import { parseFlags } from './flags.ts';
import { PAGE_FLAG_OF, pageFieldsOf } from './option-flags.ts';

const dir = mkdtempSync(join(tmpdir(), 'scrapifie-flags-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const file = (name: string, text: string): string => {
  writeFileSync(join(dir, name), text);
  return name;
};

describe('the flags of a page', () => {
  it('are the options of a request', () => {
    const flags = {
      engine: 'browser',
      waitFor: '#list',
      waitMs: 500,
      waitUntil: 'load',
      scroll: true,
      viewport: { width: 800, height: 600 },
      mobile: true,
      geolocation: { latitude: 52.52, longitude: 13.405 },
      locale: 'de-DE',
      timezone: 'Europe/Berlin',
      proxyTier: 'mobile',
      maxProxyTier: 'mobile',
      country: 'DE',
      identity: 'bot',
    } as const;
    const fields = pageFieldsOf(flags);
    expect(fields).toEqual({
      engine: 'browser',
      wait: { selector: '#list', ms: 500, until: 'load' },
      scroll: true,
      viewport: { width: 800, height: 600 },
      mobile: true,
      geolocation: { latitude: 52.52, longitude: 13.405 },
      locale: 'de-DE',
      timezone: 'Europe/Berlin',
      proxy: { tier: 'mobile', maxTier: 'mobile', country: 'DE' },
      identity: 'bot',
    });
    expect(crawlRequestSchema.safeParse({ urls: ['http://a.example/'], options: fields }).success).toBe(true);
    expect(pageFieldsOf({})).toEqual({});
  });

  it.each([
    [{ country: 'zz' }, '--country: '],
    [{ proxy: ['ftp://me:secret@p.example'] }, '--proxy: '],
    [{ proxy: ['http://p.example:1', 'ftp://me:secret@p.example'] }, '--proxy: '],
    [{ proxy: ['http://p.example:1'], proxyTier: 'mobile' }, '--proxy-tier: '],
    [{ proxyTier: 'mobile', maxProxyTier: 'datacenter' }, '--proxy-tier: '],
    [{ waitMs: 60_000 }, '--wait-ms: '],
    [{ engine: 'http', scroll: true as const }, '--scroll: '],
    [{ engine: 'http', mobile: true as const }, '--mobile: '],
    [{ identity: 'browser', timezone: 'Europe/Berlin' }, '--timezone: '],
    [{ timezone: 'Mars/Olympus' }, '--timezone: '],
    [{ locale: 'x' }, '--locale: '],
    [{ viewport: { width: 5, height: 600 } }, '--viewport: '],
  ])('%j are refused under the name of the flag', (flags, told) => {
    const parse = () =>
      parseFlags(scrapeRequestSchema, { url: 'http://a.example/', ...pageFieldsOf(flags) }, PAGE_FLAG_OF);
    expect(parse).toThrow(expect.objectContaining({ code: 'INVALID_USAGE' }));
    expect(parse).toThrow(new RegExp(`^${told}`));
    expect(parse).not.toThrow(/secret/);
  });
});

describe('a file of actions', () => {
  it('is YAML or JSON', () => {
    const actions = [{ type: 'click', selector: '#more' }];
    expect(readActions(dir, file('a.yaml', '# steps\n- type: click\n  selector: "#more"\n'))).toEqual(
      actions,
    );
    expect(readActions(dir, file('a.json', JSON.stringify(actions)))).toEqual(actions);
    expect(readActions(dir, undefined)).toBeUndefined();
  });

  it('names files for an upload by their paths', () => {
    file('cv.txt', 'Ada');
    const actions = readActions(
      dir,
      file('up.yaml', '- {type: upload, selector: "#f", files: [{path: cv.txt}]}\n'),
    );
    const files = [{ name: 'cv.txt', base64: 'QWRh' }];
    expect(actions).toEqual([{ type: 'upload', selector: '#f', files }]);
    const missing = file('no.yaml', '- {type: upload, selector: "#f", files: [{path: none.txt}]}\n');
    expect(() => readActions(dir, missing)).toThrow(/none\.txt cannot be read/);
  });

  it('that cannot be read, is no YAML or no list is refused with its name', () => {
    for (const [name, told] of [
      ['missing.yaml', /missing\.yaml cannot be read/],
      [file('bad.yaml', 'a: [1\nb: 2'), /bad\.yaml:\d+: /],
      [file('map.yaml', 'type: click'), /must hold a list/],
      [file('empty.yaml', ''), /must hold a list/],
    ] as const) {
      const read = () => readActions(dir, name);
      expect(read).toThrow(expect.objectContaining({ code: 'INVALID_USAGE' }));
      expect(read).toThrow(told);
    }
  });

  it('has its wrong steps named by their place', () => {
    const actions = readActions(dir, file('c.yaml', '- {type: press, key: a}\n- {type: click}\n'));
    const parse = () =>
      parseFlags(scrapeRequestSchema, { url: 'http://a.example/', actions }, { actions: '--actions' });
    expect(parse).toThrow(/^--actions: `1\.selector` is required\.$/);
  });
});
