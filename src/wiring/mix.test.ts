import { describe, expect, it } from 'vitest';
import { ROLES, settingsSchema } from '../config/settings.ts';
import { refuseWrongMix } from './mix.ts';

const databaseUrl = 'postgres://me:canary@db.test/scrapifie';
const redisUrl = 'redis://:canary@redis.test:6379/0';
const s3Url = 'https://key:canary@s3.test/bucket';
const settings = (given: object) => settingsSchema.parse(given);

describe('a mix of settings', () => {
  it('of one process may be any', () => {
    for (const given of [{}, { databaseUrl }, { redisUrl }, { s3Url }, { databaseUrl, redisUrl, s3Url }]) {
      expect(() => refuseWrongMix(settings(given))).not.toThrow();
    }
  });

  it.each(ROLES.filter((role) => role !== 'all'))(
    'of a fleet is refused for %s without a place to share',
    (role) => {
      expect(() => refuseWrongMix(settings({ role, databaseUrl, redisUrl, s3Url }))).not.toThrow();
      const refused = { code: 'INVALID_SETTINGS' };
      expect(() => refuseWrongMix(settings({ role }))).toThrow(expect.objectContaining(refused));
      for (const [given, missing] of [
        [{ redisUrl, s3Url }, 'SCRAPIFIE_DATABASE_URL'],
        [{ databaseUrl, s3Url }, 'SCRAPIFIE_REDIS_URL'],
        [{ databaseUrl, redisUrl }, 'SCRAPIFIE_S3_URL'],
      ] as const) {
        expect(() => refuseWrongMix(settings({ role, ...given }))).toThrow(missing);
        expect(() => refuseWrongMix(settings({ role, ...given }))).not.toThrow('canary');
      }
    },
  );
});
