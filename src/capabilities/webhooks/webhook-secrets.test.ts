import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { newSecret, secretProblem, signatureHeaders } from './webhook-secrets.ts';

const rawSecret = fc.string({ minLength: 16, maxLength: 100, unit: 'grapheme-ascii' });
const keySecret = fc
  .uint8Array({ minLength: 24, maxLength: 64 })
  .map((bytes) => `whsec_${Buffer.from(bytes).toString('base64')}`);
const secret = fc.oneof(
  rawSecret.filter((text) => !text.startsWith('whsec_')),
  keySecret,
);
const verifierOf = (key: string) =>
  key.startsWith('whsec_') ? new Webhook(key) : new Webhook(Buffer.from(key, 'utf8'), { format: 'raw' });

describe('webhook signatures', () => {
  it('property 40: can be recomputed from the secret and the payload', () => {
    fc.assert(
      fc.property(secret, fc.json(), fc.uuid(), (key, body, id) => {
        const headers = signatureHeaders({ id, at: Date.now(), body, secrets: [key] });
        expect(headers['x-webhook-signature']).toBe(createHmac('sha256', key).update(body).digest('hex'));
        expect(verifierOf(key).verify(body, headers)).toEqual(JSON.parse(body));
      }),
    );
  });

  it('are valid under both secrets while they overlap, and under no other', () => {
    fc.assert(
      fc.property(secret, secret, secret, fc.json(), (newest, former, other, body) => {
        fc.pre(new Set([newest, former, other]).size === 3);
        const headers = signatureHeaders({ id: 'a', at: Date.now(), body, secrets: [newest, former] });
        for (const key of [newest, former]) verifierOf(key).verify(body, headers);
        expect(() => verifierOf(other).verify(body, headers)).toThrow();
        expect(() => verifierOf(newest).verify(`${body} `, headers)).toThrow();
      }),
      { numRuns: 50 },
    );
  });

  it('are left out where there is no secret', () => {
    const headers = signatureHeaders({ id: 'a', at: 1_500, body: '{}', secrets: [] });
    expect(headers).toEqual({ 'webhook-id': 'a', 'webhook-timestamp': '1' });
  });

  it('new secrets can be used, and short or broken ones are refused', () => {
    expect(secretProblem(newSecret())).toBeNull();
    expect(newSecret()).not.toBe(newSecret());
    for (const wrong of ['short', 'whsec_', 'whsec_AAAA', `whsec_${'!'.repeat(40)}`]) {
      expect(secretProblem(wrong)).not.toBeNull();
    }
  });
});
