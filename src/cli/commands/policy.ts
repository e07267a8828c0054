import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { FileProblem } from '../../core/config/yaml-file.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { HostKey } from '../../core/model/ids.ts';
import type { HostPolicy } from '../../core/model/policy.ts';
import type { OptOut } from '../../core/ports/site-owner-store.ts';
import { hostPattern } from '../../crawl/policy/policies.ts';
import { loadPolicyFile } from '../../crawl/policy/policy-file.ts';
import { urlPart } from '../../lib/url-part.ts';
import { apiClientOf, type BackendFlags } from '../backend/open-backend.ts';
import type { ServerClient } from '../backend/server-client.ts';
import { FLAGS, readSettings } from '../flags/flags.ts';
import { DATABASE_FILE } from '../folders/crawl-folder.ts';
import { dataPlaceOf } from '../folders/data-folder.ts';
import { helpBelow } from '../output/help.ts';
import { screenOf } from '../output/screen.ts';
import { details } from '../output/table.ts';
import type { DefineCommand, Shell } from '../shell/shell.ts';

const EXAMPLES = `
FILE defaults to SCRAPIFIE_POLICY_FILE, and without that to the file that ships with Scrapifie.

Examples:
  scrapifie policy check ./policies.yaml
  scrapifie policy show www.example.com`;

export const define: DefineCommand = (command, shell, endWith) => {
  command.addHelpText('afterAll', helpBelow(EXAMPLES));
  command
    .command('check [file]')
    .description('say whether a policy file is right, with the line of every problem')
    .action(async (file: string | undefined) => {
      const path = file === undefined ? await fileInForce(shell) : resolve(shell.cwd, file);
      try {
        const { file: policy } = loadPolicyFile(path);
        shell.stdout.write(`${path} is right: ${policy.domains.size} domains.\n`);
      } catch (error) {
        if (!(error instanceof ScrapifieError) || !Array.isArray(error.details)) throw error;
        const problems = error.details as FileProblem[];
        const lines = problems.map(({ line, at, problem }) => {
          const place = line === null ? path : `${path}:${line}`;
          return `  ${place}: ${at === '' ? '' : `${at} `}${problem}\n`;
        });
        const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
        shell.stderr.write(`error ${error.code}: The policy file has ${count}.\n${lines.join('')}`);
        endWith(error.spec.exitCode);
      }
    });
  command
    .command('show <host>')
    .description('show what holds for a host, and which entries say so')
    .addOption(FLAGS.dataDir())
    .addOption(FLAGS.api())
    .addOption(FLAGS.apiKey())
    .addOption(FLAGS.json())
    .action(async (host: string, flags: BackendFlags & { readonly json?: true }) => {
      const key = hostKeyOf(host);
      const client = apiClientOf(shell, flags);
      const { path, policy, denied } =
        client === null ? await policyHere(shell, key, flags.dataDir) : await policyThere(client, key);
      if (flags.json) {
        shell.stdout.write(`${JSON.stringify({ host: key, file: path, denied, ...policy }, null, 2)}\n`);
        return;
      }
      const rows = Object.entries({ ...policy, ratePerSecond: policy.ratePerSecond ?? 'unlimited' })
        .filter(([name]) => name !== 'deny')
        .map(([name, value]) => [name, shown(value)]);
      shell.stdout.write(
        details(screenOf(shell), [['host', key], ['file', path], ['denied', denied ?? 'no'], ...rows]),
      );
    });
};

const shown = (value: unknown): string => {
  if (value === null) return 'none';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

interface PolicyInForce {
  /** The policy file, or the server that has it. */
  readonly path: string;
  readonly policy: HostPolicy;
  /** The rule that denies the host; null when none does. */
  readonly denied: string | null;
}

async function policyHere(shell: Shell, key: HostKey, dataDir: string | undefined): Promise<PolicyInForce> {
  const path = await fileInForce(shell);
  const policies = loadPolicyFile(path, await optOutsOf(shell, dataDir));
  return { path, policy: policies.policyFor(key), denied: policies.denied(key)?.rule ?? null };
}

async function policyThere(client: ServerClient, key: HostKey): Promise<PolicyInForce> {
  const path = `/v1/domains/${urlPart(key)}`;
  const { policy, denied } = await client.call<{ policy: HostPolicy; denied: string | null }>('GET', path);
  return { path: client.origin, policy, denied };
}

async function fileInForce(shell: Shell): Promise<string> {
  return readSettings(shell).policyFile ?? (await shell.shippedPolicy());
}

/** A host as it is, or taken out of a URL. */
function hostKeyOf(text: string): HostKey {
  const host = URL.parse(text)?.host || text;
  const pattern = host.startsWith('*.') ? null : hostPattern(host);
  if (pattern === null)
    throw new ScrapifieError('INVALID_USAGE', `"${text}" is not a host such as example.com.`);
  return pattern as HostKey;
}

/** Requests of site owners are in the store, where there is one. */
async function optOutsOf(shell: Shell, option: string | undefined): Promise<readonly OptOut[]> {
  const place = dataPlaceOf(shell, option);
  if (place.databaseUrl === undefined && !existsSync(join(place.dataDir, DATABASE_FILE))) return [];
  const storage = await shell.openStorage(place);
  try {
    return await storage.store.listOptOuts();
  } finally {
    await storage.close();
  }
}
