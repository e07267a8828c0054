import { describe, expect, it } from 'vitest';
import { ROLES, settingsSchema } from '../core/config/settings.ts';
import { refuseIncompleteFleet } from './roles.ts';

const databaseUrl = 'postgres://me:canary@db.test/scrapifie';
const redisUrl = 'redis://:canary@redis.test:6379/0';
const s3Url = 'https://key:canary@s3.test/bucket';
const settings = (given: object) => settingsSchema.parse(given);

describe('a mix of settings', () => {
  it('of one process may be any', () => {
    for (const given of [{}, { databaseUrl }, { redisUrl }, { s3Url }, { databaseUrl, redisUrl, s3Url }]) {
      expect(() => refuseIncompleteFleet(settings(given))).not.toThrow();
    }
  });

  it.each(ROLES.filter((role) => role !== 'all'))(
    'of a fleet is refused for %s without a place to share',
    (role) => {
      expect(() => refuseIncompleteFleet(settings({ role, databaseUrl, redisUrl, s3Url }))).not.toThrow();
      const refused = { code: 'INVALID_SETTINGS' };
      expect(() => refuseIncompleteFleet(settings({ role }))).toThrow(expect.objectContaining(refused));
      for (const [given, missing] of [
        [{ redisUrl, s3Url }, 'SCRAPIFIE_DATABASE_URL'],
        [{ databaseUrl, s3Url }, 'SCRAPIFIE_REDIS_URL'],
        [{ databaseUrl, redisUrl }, 'SCRAPIFIE_S3_URL'],
      ] as const) {
        expect(() => refuseIncompleteFleet(settings({ role, ...given }))).toThrow(missing);
        expect(() => refuseIncompleteFleet(settings({ role, ...given }))).not.toThrow('canary');
      }
    },
  );
});
