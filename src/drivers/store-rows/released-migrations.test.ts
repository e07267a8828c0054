import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { editedMigrations, hashOf, RELEASED } from './released-migrations.fixture.ts';

const SCHEMA = { sql: () => 'CREATE TABLE a (x INTEGER);' };
const CHANGE = { sql: () => 'ALTER TABLE a ADD COLUMN y INTEGER;' };
const released = [SCHEMA, CHANGE].map(hashOf);

describe('migrations of a release', () => {
  it('may be followed by others', () => {
    expect(editedMigrations([SCHEMA, CHANGE], released)).toEqual([]);
    expect(editedMigrations([SCHEMA, CHANGE, { sql: () => 'DROP TABLE a;' }], released)).toEqual([]);
  });

  it('are found when they were edited, moved or removed', () => {
    const edited = { sql: () => `${CHANGE.sql()} -- more` };
    expect(editedMigrations([SCHEMA, edited], released)).toEqual([2]);
    expect(editedMigrations([CHANGE, SCHEMA], released)).toEqual([1, 2]);
    expect(editedMigrations([SCHEMA], released)).toEqual([2]);
  });

  it('are recorded from the first release on', () => {
    const changelog = readFileSync(new URL('../../../CHANGELOG.md', import.meta.url), 'utf8');
    const isReleased = /^## \[\d/m.test(changelog);
    expect([RELEASED.sqlite.length > 0, RELEASED.postgres.length > 0]).toEqual([isReleased, isReleased]);
  });
});
