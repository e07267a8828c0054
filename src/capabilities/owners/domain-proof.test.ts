import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { startDnsServer } from './dns-server.fixture.ts';
import { createDomainProof, PROOF_PATH, proofRecord, proofText } from './domain-proof.ts';

const TOKEN = 'a-token-of-this-test';
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function site(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
}

async function proofWith(records: Readonly<Record<string, readonly string[]>> = {}, allowPrivate = true) {
  const dns = await startDnsServer(new Map(Object.entries(records)));
  closing.push(dns.close);
  const proof = createDomainProof({ allowPrivate, userAgent: 'test', dnsServers: [dns.address] });
  closing.push(() => proof.close());
  return proof;
}

describe('a file on the host', () => {
  it('proves it by a line of its own, among others', async () => {
    const asked: string[] = [];
    const host = await site((request, response) => {
      asked.push(`${request.url} ${request.headers['user-agent']}`);
      response.end(`# proofs\r\n  ${proofText(TOKEN)}  \r\nother=1\r\n`);
    });
    expect(await (await proofWith()).find(host, TOKEN)).toEqual({ by: 'file' });
    expect(asked).toEqual([`${PROOF_PATH} test`]);
  });

  it.each(['text/plain', 'Text/Plain; charset=utf-8'])('may have the content type %s', async (type) => {
    const host = await site((_request, response) =>
      response.writeHead(200, { 'content-type': type }).end(proofText(TOKEN)),
    );
    expect(await (await proofWith()).find(host, TOKEN)).toEqual({ by: 'file' });
  });

  it.each<[string, RequestListener]>([
    [
      'that is a page',
      (_request, response) =>
        response
          .writeHead(200, { 'content-type': 'text/html' })
          .end(`<!doctype html>\n<p>\n${proofText(TOKEN)}\n</p>`),
    ],
    [
      'of a type that only begins like text',
      (_request, response) =>
        response.writeHead(200, { 'content-type': 'text/plainer' }).end(proofText(TOKEN)),
    ],
    ['that is not there', (_request, response) => response.writeHead(404).end(proofText(TOKEN))],
    ['with another token', (_request, response) => response.end(proofText('another'))],
    ['with the token within a line', (_request, response) => response.end(`x ${proofText(TOKEN)} y`)],
    [
      'that another host has',
      (_request, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    ],
    ['without an end', (_request, response) => response.write(`${'x'.repeat(200_000)}\n${proofText(TOKEN)}`)],
    ['that is cut off', (request) => request.socket.destroy()],
  ])('proves nothing: one %s', async (_what, listener) => {
    const host = await site(listener);
    const found = await (await proofWith()).find(host, TOKEN);
    expect(found.by).toBeNull();
    expect(found).toMatchObject({ seen: [expect.any(String), expect.any(String), expect.any(String)] });
  });

  it('is not asked for at an address that must not be fetched', async () => {
    let requests = 0;
    const host = await site((_request, response) => {
      requests += 1;
      response.end(proofText(TOKEN));
    });
    const found = await (await proofWith({}, false)).find(host, TOKEN);
    expect(found.by).toBeNull();
    expect(requests).toBe(0);
    expect(JSON.stringify(found)).toContain('ADDRESS_REFUSED');
  });
});

describe('a DNS record', () => {
  const name = proofRecord('shop.test') ?? '';

  it('proves the host that it stands under', async () => {
    const proof = await proofWith({ [name]: ['v=spf1', proofText(TOKEN)] });
    expect(name).toBe('_scrapifie.shop.test');
    expect(await proof.find('shop.test', TOKEN)).toEqual({ by: 'dns' });
  });

  it('proves nothing with another text, or under another name', async () => {
    const proof = await proofWith({ [name]: [proofText('another')] });
    expect((await proof.find('shop.test', TOKEN)).by).toBeNull();
    expect((await proof.find('other.test', TOKEN)).by).toBeNull();
  });

  it('is not there for addresses', () => {
    expect(proofRecord('127.0.0.1:80')).toBeNull();
    expect(proofRecord('[::1]:80')).toBeNull();
  });
});
