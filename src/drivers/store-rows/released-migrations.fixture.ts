import { hash } from 'node:crypto';
import type { SqlStep } from './sql-files.ts';

/**
 * The beginnings of the SHA-256 of the migrations that a release has, in their order. A release adds those that it is the first
 * to have (`hashOf`); none is ever changed. Nothing was released yet, so the schema of version 0.1.0 may still be edited.
 */
export const RELEASED: Readonly<Record<'sqlite' | 'postgres', readonly string[]>> = {
  sqlite: [],
  postgres: [],
};

export const hashOf = ({ sql }: SqlStep): string => hash('sha256', sql(), 'hex').slice(0, 16);

/** The versions whose statements are not those of their release: databases that have them would stay as they are. */
export function editedMigrations(migrations: readonly SqlStep[], released: readonly string[]): number[] {
  return released.flatMap((known, at) => {
    const migration = migrations[at];
    return migration !== undefined && hashOf(migration) === known ? [] : [at + 1];
  });
}
