import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createCanonicalizer, hostKeyOf, MAX_URL_CHARS, parseSeed } from './canonical.ts';

const canonicalize = createCanonicalizer({ ignoreQueryParameters: [], keepFragment: false });
const urlOf = (raw: string, base?: string) => canonicalize(raw, base)?.url ?? null;

describe('the canonical form', () => {
  it.each([
    ['HTTPS://Example.COM:443/A', 'https://example.com/A'],
    ['http://example.com:80', 'http://example.com/'],
    ['http://example.com:443/', 'http://example.com:443/'],
    ['https://user:pass@example.com/x', 'https://example.com/x'],
    ['https://example.com/x#part', 'https://example.com/x'],
    ['https://example.com/x?', 'https://example.com/x'],
    ['https://example.com/x?&&', 'https://example.com/x'],
    ['https://example.com/x?b=2&a=1', 'https://example.com/x?a=1&b=2'],
    ['https://example.com/x?a[]=2&b&a[]=1', 'https://example.com/x?a[]=2&a[]=1&b'],
    ['https://example.com/x?utm_source=a&UTM_Medium=b&q=1&fbclid=z', 'https://example.com/x?q=1'],
    ['https://example.com/x?gclid=1', 'https://example.com/x'],
    ['https://example.com/x?%75tm_source=1', 'https://example.com/x'],
    ['https://example.com/a/./b/../c', 'https://example.com/a/c'],
    ['https://example.com/a/%2e%2E/c', 'https://example.com/c'],
    ['https://example.com/%7euser/%c3%a9/%2f', 'https://example.com/~user/%C3%A9/%2F'],
    ['https://example.com/é?ü=ö', 'https://example.com/%C3%A9?%C3%BC=%C3%B6'],
    ['https://example.com/100%', 'https://example.com/100%'],
    ['https://example.com/%%34%31', 'https://example.com/%%341'],
    ['https://example.com\\a\\b', 'https://example.com/a/b'],
    ['  https://exa\tmple.com/a\nb\r ', 'https://example.com/ab'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
    ['https://EXAMPLE。com/', 'https://example.com/'],
    ['http://[2001:DB8:0::1]:80/', 'http://[2001:db8::1]/'],
    ['http://0x7f.1/', 'http://127.0.0.1/'],
    ['http://2130706433/', 'http://127.0.0.1/'],
    ['https://example.com./x', 'https://example.com/x'],
    ['http://127.0.0.1../x', 'http://127.0.0.1/x'],
    ['https:example.com/x', 'https://example.com/x'],
    ['https://example.com/a;jsessionid=1A2B/b;v=1?x=1', 'https://example.com/a/b;v=1?x=1'],
    ['https://example.com/a/..;jsessionid=1/b', 'https://example.com/b'],
    ['https://example.com/?PHPSESSID=abc&id=1', 'https://example.com/?id=1'],
    ['https://example.com/?sid=0f9e8d7c6b5a49382716', 'https://example.com/'],
    ['https://example.com/?sid=42', 'https://example.com/?sid=42'],
  ])('of %j is %s', (raw, expected) => {
    expect(urlOf(raw)).toBe(expected);
    expect(urlOf(expected)).toBe(expected);
  });

  it.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,<a href=x>',
    'mailto:a@example.com',
    'tel:+123',
    'ftp://example.com/',
    'file:///etc/passwd',
    'blob:https://example.com/1',
    'http://',
    'https://user:pass@/',
    'https://./',
    'https://exa mple.com/',
    'https://example.com:99999/',
    'https://[::1/',
    '',
    '#part',
    '/relative',
    `https://example.com/${'a'.repeat(MAX_URL_CHARS)}`,
    `https://example.com/${'é'.repeat(MAX_URL_CHARS / 4)}`,
    `https://${'a'.repeat(64)}.com/`,
    `https://${'ä'.repeat(60)}.com/`,
    `https://${'a.'.repeat(126)}co/`,
    `https://${'a.'.repeat(126)}co./`,
    `https://${'a.'.repeat(1_800)}com/`,
  ])('does not exist for %j', (raw) => {
    expect(canonicalize(raw)).toBeNull();
  });

  it.each([
    ['/x', 'https://example.com/x'],
    ['x.html', 'https://example.com/dir/x.html'],
    ['./x', 'https://example.com/dir/x'],
    ['../x', 'https://example.com/x'],
    ['../../../x', 'https://example.com/x'],
    ['?b=1&a=2', 'https://example.com/dir/page?a=2&b=1'],
    ['#part', 'https://example.com/dir/page?q=1'],
    ['', 'https://example.com/dir/page?q=1'],
    ['//other.example/x', 'https://other.example/x'],
    ['/\\other.example/x', 'https://other.example/x'],
    ['\\x', 'https://example.com/x'],
    ['https:x', 'https://example.com/dir/x'],
    ['http://other.example', 'http://other.example/'],
    ['/a/../../b', 'https://example.com/b'],
    ['/x?utm_source=1#y', 'https://example.com/x'],
    ['/x#a?b', 'https://example.com/x'],
    ['https://example.com/y?b=1&a=2', 'https://example.com/y?a=2&b=1'],
    ['https://example.com.evil.example/y', 'https://example.com.evil.example/y'],
    ['https://example.com@evil.example/y', 'https://evil.example/y'],
    ['javascript:void(0)', null],
    ['mailto:x@example.com', null],
  ])('of the link %j on a page is %s', (raw, expected) => {
    expect(urlOf(raw, 'https://example.com/dir/page?q=1#top')).toBe(expected);
  });

  it('takes names as long as DNS takes them, with and without the final dot', () => {
    const name = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`;
    expect(name).toHaveLength(253);
    for (const host of [name, `${name}.`, `${name}:8080`])
      expect(canonicalize(`http://${host}/`)).not.toBeNull();
    expect(canonicalize(`http://${name}d/`)).toBeNull();
    const longest = `http://[${'1234:'.repeat(7)}5678]/`;
    expect(canonicalize(longest)?.url).toBe(longest);
  });

  it('of a relative link does not exist on a host that cannot exist', () => {
    expect(canonicalize('/x', `https://${'a'.repeat(64)}.com/`)).toBeNull();
    expect(canonicalize('x.html', `https://${'a.'.repeat(200)}com/y`)).toBeNull();
  });

  it('keeps the scheme, because http and https may be different sites', () => {
    expect(urlOf('http://example.com/')).toBe('http://example.com/');
  });

  it('passes over a base that is no URL', () => {
    expect(urlOf('https://example.com/x', 'nonsense')).toBe('https://example.com/x');
    expect(urlOf('/x', 'nonsense')).toBeNull();
    expect(urlOf('/x', 'mailto:a@example.com')).toBeNull();
  });

  it('is not confused by a change of base', () => {
    expect(urlOf('/x', 'https://a.example/')).toBe('https://a.example/x');
    expect(urlOf('/x', 'https://b.example/')).toBe('https://b.example/x');
    expect(urlOf('/x')).toBeNull();
    expect(urlOf('/x', 'https://a.example/')).toBe('https://a.example/x');
  });

  it('drops the parameters a job ignores, by name and by beginning', () => {
    const own = createCanonicalizer({ ignoreQueryParameters: ['sort', 'f_*', 'größe'], keepFragment: false });
    expect(own('https://example.com/?sort=1&f_a=1&f_b=2&q=3&gr%C3%B6%C3%9Fe=1&Sort=2')?.url).toBe(
      'https://example.com/?Sort=2&q=3',
    );
  });

  it('keeps fragments when told to', () => {
    const own = createCanonicalizer({ ignoreQueryParameters: [], keepFragment: true });
    expect(own('/x#!/route', 'https://example.com/')?.url).toBe('https://example.com/x#!/route');
    expect(own('/x#', 'https://example.com/')?.url).toBe('https://example.com/x');
  });

  it('comes with the key, host and origin', () => {
    const found = canonicalize('https://Example.com:8443/x?a=1');
    expect(found).toEqual({
      url: 'https://example.com:8443/x?a=1',
      urlKey:
        createHash('sha256').update('example.com:8443').digest('base64url').slice(0, 6) +
        createHash('sha256').update('https://example.com:8443/x?a=1').digest('base64url').slice(0, 16),
      hostKey: 'example.com:8443',
      origin: 'https://example.com:8443',
    });
    expect(canonicalize('http://example.com/')?.hostKey).toBe('example.com');
  });
});

describe('the host key', () => {
  it.each([
    ['https://example.com/', 'example.com'],
    ['http://example.com:8080/', 'example.com:8080'],
    ['https://example.com.:8080/', 'example.com:8080'],
    ['http://[::1]:81/', '[::1]:81'],
  ])('of %s is %s', (url, key) => {
    expect(hostKeyOf(new URL(url))).toBe(key);
  });
});

describe('a seed', () => {
  it.each([
    ['https://example.com', 'https://example.com/'],
    ['example.com', 'https://example.com/'],
    [' Example.com/x?y#z ', 'https://example.com/x?y#z'],
    ['example.com:8080/x', 'https://example.com:8080/x'],
    ['//example.com/x', 'https://example.com/x'],
    ['bücher.example', 'https://xn--bcher-kva.example/'],
    ['localhost', 'http://localhost/'],
    ['localhost:8080', 'http://localhost:8080/'],
    ['a.localhost:8080/x', 'http://a.localhost:8080/x'],
    ['127.0.0.1:3000', 'http://127.0.0.1:3000/'],
    ['[::1]:3000/x', 'http://[::1]:3000/x'],
    ['[::1]', 'http://[::1]/'],
    ['example.com?q=a:b', 'https://example.com/?q=a:b'],
  ])('%j becomes %s', (raw, expected) => {
    expect(parseSeed(raw)).toBe(expected);
  });

  it.each([
    ['', /empty/],
    ['foo', /not an absolute URL/],
    ['/path', /not an absolute URL/],
    ['hello world', /not an absolute URL/],
    ['javascript:alert(1)', /begins with javascript:/],
    ['ftp://example.com', /begins with ftp:/],
    ['mailto:a@example.com', /begins with mailto:/],
    ['a@example.com', /not an absolute URL/],
    ['https://', /not a valid URL/],
    ['https://exa mple.com', /not a valid URL/],
    ['example.com:99999', /not a valid URL/],
    ['https://user:secret@example.com', /Authorization header/],
    [`https://example.com/${'a'.repeat(9_000)}`, /9020 characters/],
    [`https://${'a'.repeat(64)}.com/`, /host name .* is too long/],
    [`${'a.'.repeat(1_800)}com`, /at most 253 characters/],
  ])('%j is refused with a clear message', (raw, message) => {
    expect(() => parseSeed(raw)).toThrow(message);
    expect(() => parseSeed(raw)).toThrow(expect.objectContaining({ code: 'INVALID_URL' }));
  });
});
