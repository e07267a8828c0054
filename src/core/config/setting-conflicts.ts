import { isScrapifieError } from '../errors/scrapifie-error.ts';
import { parseS3Url, postgresUrlProblem } from './place-urls.ts';
import type { Settings } from './settings.ts';

/** Why a setting cannot be used although its value has the right form. */
export interface SettingConflict {
  readonly name: keyof Settings;
  readonly problem: string;
}

/**
 * What is wrong with settings that are right one by one. `wrong` has the names of those that are not: they were given,
 * so they are not reported as missing.
 */
export function settingConflicts(
  settings: Settings,
  wrong: ReadonlySet<string>,
  { isServing = false } = {},
): SettingConflict[] {
  const {
    databaseUrl,
    databaseReadUrl,
    s3Url,
    backupS3Url,
    llmUrl,
    llmModel,
    smtpUrl,
    smtpFrom,
    oidcIssuer,
    oidcAudience,
  } = settings;
  const conflicts: SettingConflict[] = [];
  const wrongDatabase = postgresUrlProblem(databaseUrl ?? '');
  if (wrongDatabase !== null) conflicts.push({ name: 'databaseUrl', problem: wrongDatabase });
  const wrongStandby = postgresUrlProblem(databaseReadUrl ?? '');
  if (wrongStandby !== null) conflicts.push({ name: 'databaseReadUrl', problem: wrongStandby });
  if (databaseReadUrl !== undefined && databaseUrl === undefined && !wrong.has('databaseUrl')) {
    const problem = 'names a standby, and SCRAPIFIE_DATABASE_URL does not name its primary';
    conflicts.push({ name: 'databaseReadUrl', problem });
  }
  const wrongStore = s3Url === undefined ? null : s3UrlProblem(s3Url);
  if (wrongStore !== null) conflicts.push({ name: 's3Url', problem: wrongStore });
  const wrongBackups = backupS3Url === undefined ? null : s3UrlProblem(backupS3Url);
  if (settings.backupTo?.startsWith('s3://') === true && (backupS3Url ?? s3Url) === undefined) {
    const problem =
      'names a bucket, and neither SCRAPIFIE_BACKUP_S3_URL nor SCRAPIFIE_S3_URL says where it is';
    conflicts.push({ name: 'backupTo', problem });
  }
  if (settings.lake?.startsWith('s3://') === true && s3Url === undefined) {
    const problem = 'names a bucket, and SCRAPIFIE_S3_URL does not say where it is';
    conflicts.push({ name: 'lake', problem });
  }
  if (wrongBackups !== null) conflicts.push({ name: 'backupS3Url', problem: wrongBackups });
  if (oidcIssuer !== undefined && oidcAudience === undefined && !wrong.has('oidcAudience')) {
    conflicts.push({ name: 'oidcAudience', problem: 'is required with SCRAPIFIE_OIDC_ISSUER' });
  }
  if (llmUrl !== undefined && llmModel === undefined && !wrong.has('llmModel')) {
    conflicts.push({ name: 'llmModel', problem: 'is required with SCRAPIFIE_LLM_URL' });
  }
  if (smtpUrl !== undefined && smtpFrom === undefined && !wrong.has('smtpFrom')) {
    conflicts.push({ name: 'smtpFrom', problem: 'is required with SCRAPIFIE_SMTP_URL' });
  }
  if (isServing) conflicts.push(...missingOfFleet(settings).filter(({ name }) => !wrong.has(name)));
  return conflicts;
}

type Places = Pick<Settings, 'role' | 'databaseUrl' | 'redisUrl' | 's3Url'>;

/** A part of a fleet needs places that the other parts can reach. One process that does everything may mix as it likes. */
export function missingOfFleet({ role, databaseUrl, redisUrl, s3Url }: Places): SettingConflict[] {
  if (role === 'all') return [];
  const places = [
    ['databaseUrl', databaseUrl, 'an SQLite file belongs to one process'],
    ['redisUrl', redisUrl, 'the built-in queue reaches no other process'],
    ['s3Url', s3Url, 'the other parts cannot read bodies in a folder of this one'],
  ] as const;
  return places.flatMap(([name, url, why]) =>
    url === undefined
      ? [{ name, problem: `is not set, and the role ${role} is a part of a fleet: ${why}` }]
      : [],
  );
}

function s3UrlProblem(text: string): string | null {
  try {
    parseS3Url(text);
    return null;
  } catch (error) {
    if (!isScrapifieError(error)) throw error;
    return error.message.replace(/^The URL of the object store /, '').replace(/\.$/, '');
  }
}
