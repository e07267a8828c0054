import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { Role } from '../../src/core/config/settings.ts';
import { type BreakableLine, openLine } from '../contract/breakable-line.ts';
import { takeFleetPlace } from '../integration/fleet-place.ts';
import { type Member, type MemberSettings, type Oddities, startMember } from './member.ts';

/** Ways from one process to the servers, each of which can be cut or made silent. */
export interface Lines {
  readonly postgres: BreakableLine;
  readonly redis: BreakableLine;
  readonly s3: BreakableLine;
}

export interface CrewMember extends Member {
  readonly to: Lines;
}

/** Processes of one fleet, each with lines of its own to the servers. */
export interface Crew {
  readonly dir: string;
  readonly apiKey: string;
  readonly place: Places;
  add(role: Role, settings?: MemberSettings, oddities?: Oddities): Promise<CrewMember>;
  /** A statement on the fleet's database, past all lines. */
  sql(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  /** Ends the processes at once and removes what they left. */
  close(): Promise<void>;
}

export interface Places {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly redisPrefix: string;
  readonly s3Url: string;
}

export interface CrewOptions {
  /** YAML of the policy file. */
  readonly policy?: string;
  /** Settings of every process of the crew. */
  readonly settings?: MemberSettings;
  /** Left out: a place on the servers that all tests share. */
  readonly place?: Partial<Places>;
  /** Who logs in to the database; left out: its owner. */
  readonly login?: { readonly user: string; readonly password: string };
}

export const VAULT_KEY = randomBytes(32).toString('hex');
const QUICK_POLICY = 'default: { rate: unlimited, concurrency: 8 }\n';

export async function gatherCrew(options: CrewOptions = {}): Promise<Crew> {
  const dir = await mkdtemp(join(tmpdir(), 'scrapifie-crew-'));
  const shared = await takeFleetPlace();
  if (shared === null) throw new Error('These tests need the servers of the fleet profile.');
  const given = { ...shared.settings, ...options.place } as Places;
  const place =
    options.login === undefined
      ? given
      : { ...given, databaseUrl: loginUrl(given.databaseUrl, options.login) };
  const policyFile = join(dir, 'policy.yaml');
  await writeFile(policyFile, options.policy ?? QUICK_POLICY);
  const apiKey = `crew-${randomBytes(16).toString('hex')}`;
  const members: CrewMember[] = [];
  let numbers = 0;
  const opened: BreakableLine[] = [];

  async function lineFor(url: string): Promise<{ line: BreakableLine; url: string }> {
    const through = new URL(url);
    const line = await openLine({ host: through.hostname, port: Number(through.port) });
    opened.push(line);
    through.port = String(line.port);
    return { line, url: through.href };
  }

  return {
    dir,
    apiKey,
    place,
    async add(role, settings = {}, oddities = {}) {
      const [postgres, redis, s3] = await Promise.all([
        lineFor(place.databaseUrl),
        lineFor(place.redisUrl),
        lineFor(place.s3Url),
      ]);
      const member = await startMember(
        join(dir, `${role}-${numbers++}`),
        role,
        {
          databaseUrl: postgres.url,
          redisUrl: redis.url,
          redisPrefix: place.redisPrefix,
          s3Url: s3.url,
          policyFile,
          apiKey,
          allowPrivate: true,
          extractThreads: 1,
          contact: 'https://crew.example/',
          vaultKey: VAULT_KEY,
          ...options.settings,
          ...settings,
        },
        oddities,
      );
      // The properties are copied as they are, so that getters stay getters.
      const crewMember = Object.defineProperties(
        { to: { postgres: postgres.line, redis: redis.line, s3: s3.line } },
        Object.getOwnPropertyDescriptors(member),
      ) as CrewMember;
      members.push(crewMember);
      return crewMember;
    },
    async sql(text, values = []) {
      const client = new Client({ connectionString: place.databaseUrl });
      client.on('error', () => {});
      await client.connect();
      try {
        return (await client.query(text, [...values])).rows;
      } finally {
        await client.end();
      }
    },
    async close() {
      for (const member of members) if (member.exitCode === null) member.signal('SIGKILL');
      await Promise.all(members.map(({ ended }) => ended));
      await Promise.all(opened.map((line) => line.close()));
      await shared.remove();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

function loginUrl(url: string, { user, password }: { user: string; password: string }): string {
  const login = { username: encodeURIComponent(user), password: encodeURIComponent(password) };
  return Object.assign(new URL(url), login).href;
}
