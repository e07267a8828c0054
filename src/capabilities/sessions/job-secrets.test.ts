import { describe, expect, it } from 'vitest';
import type { AccountId, JobId } from '../../core/model/ids.ts';
import type { JobOptions, PageOptions } from '../../core/model/job.ts';
import { openOptions, resealOptions, sealOptions } from './job-secrets.ts';
import { hideSecrets } from './secret-fields.ts';
import { createVault, openVault } from './vault.ts';

const JOB = { id: '019f0000-0000-7000-8000-000000000001' as JobId, accountId: 'default' as AccountId };
const vault = createVault('a1'.repeat(32));
const PAGE = {
  headers: { 'X-Feature': 'canary-header', Accept: 'text/html' },
  cookies: { sid: 'canary-cookie' },
  body: 'password=canary-body',
  proxy: { tier: null, country: null, url: 'http://ann:canary-proxy@proxy.example' },
  render: {
    pdf: true,
    actions: [
      { type: 'type', selector: '#a', text: 'canary-typed' },
      { type: 'select', selector: '#b', value: 'canary-selected' },
      { type: 'evaluate', script: '"canary-script"' },
      { type: 'upload', selector: '#d', files: [{ name: 'a', base64: 'canary' }] },
      { type: 'click', selector: '#c' },
    ],
  },
} as unknown as PageOptions;
const options = (page: Partial<PageOptions> = {}) => ({ page: { ...PAGE, ...page } }) as JobOptions;
const PLAIN = { headers: { accept: '*/*' }, cookies: {}, body: null, proxy: null, render: null };

describe('secrets of job options', () => {
  it('are stored sealed, and come back as they were', () => {
    const stored = sealOptions(options(), vault, JOB);
    expect(JSON.stringify(stored)).not.toContain('canary');
    expect(stored.page.headers).toEqual({ 'X-Feature': '[hidden]', Accept: 'text/html' });
    expect(openOptions(stored, vault, JOB)).toEqual(options());
  });

  it('cost nothing where there are none', () => {
    const plain = options(PLAIN);
    expect(sealOptions(plain, vault, JOB)).toBe(plain);
    expect(openOptions(plain, vault, JOB)).toBe(plain);
    expect(hideSecrets(plain.page)).toBe(plain.page);
  });

  it('open for their own job only, and not without the key', () => {
    const stored = sealOptions(options(), vault, JOB);
    const other = { ...JOB, id: 'another' as JobId };
    expect(() => openOptions(stored, vault, other)).toThrow('belongs elsewhere');
    expect(() => openOptions(stored, null, JOB)).toThrow('no SCRAPIFIE_VAULT_KEY is set');
    expect(() => openOptions(stored, createVault('b2'.repeat(32)), JOB)).toThrow(`${vault?.keyId}`);
  });

  it('are refused without a key, unless the operator allows them in the open', () => {
    const keys = { vaultKey: undefined, vaultOldKeys: '' };
    const keyless = openVault({ ...keys, allowPlainSecrets: false });
    expect(() => sealOptions(options(), keyless, JOB)).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED_OPTION' }),
    );
    expect(sealOptions(options(PLAIN), keyless, JOB)).toEqual(options(PLAIN));
    const allowed = openVault({ ...keys, allowPlainSecrets: true });
    expect(sealOptions(options(), allowed, JOB)).toEqual(options());
  });

  it('are brought under a new key, those in the open too, and left alone when they are under it', () => {
    const next = createVault('b2'.repeat(32), 'a1'.repeat(32));
    if (next === null) throw new Error('There is a key.');
    for (const before of [options(), sealOptions(options(), vault, JOB)]) {
      const after = resealOptions(before, next, JOB);
      if (after === null) throw new Error('It was not under the key.');
      expect(openOptions(after, createVault('b2'.repeat(32)), JOB)).toEqual(options());
      expect(resealOptions(after, next, JOB)).toBeNull();
    }
    expect(resealOptions(options(PLAIN), next, JOB)).toBeNull();
  });
});
