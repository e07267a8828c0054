import { LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { parsePlainly } from '../../../core/config/plain-problems.ts';
import {
  describeProblems,
  type FileProblem,
  lineOfPath,
  MAX_FILE_CHARACTERS,
  wholeFile,
} from '../../../core/config/yaml-file.ts';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import { PROXY_TIERS, ProxyCredentials } from '../../../core/model/proxy.ts';
import { credentialsProblem, type ProxyAddress, parseProxyUrl } from '../../../fetch/proxy/proxy-url.ts';
import {
  CONVENTIONS,
  countryCode,
  type GatewayKind,
  type GatewayProvider,
  type ListedProxy,
  type ProxyConfig,
  type ProxyProvider,
} from './proxy-config.ts';

const MAX_LISTED = 10_000;

/** Where each company listens, unless the file says otherwise. */
const ENDPOINTS: Readonly<Record<GatewayKind, string>> = {
  brightdata: 'http://brd.superproxy.io:33335',
  oxylabs: 'http://pr.oxylabs.io:7777',
  smartproxy: 'http://gate.decodo.com:7000',
};

/** The words for a field that is not there, and for one that is of the wrong kind. */
const must = (what: string) => ({
  error: ({ input }: { readonly input?: unknown }) =>
    input === undefined ? 'is required' : `must be ${what}`,
});

const country = z.string(must('a country like de')).transform((text, context) => {
  const code = countryCode(text);
  if (code !== null) return code;
  context.addIssue({ code: 'custom', message: 'must be a country of two letters (ISO 3166), like de' });
  return z.NEVER;
});

const address = z.string(must('a URL')).transform((text, context): ProxyAddress => {
  const parsed = parseProxyUrl(text);
  if (parsed.kind === 'address') return parsed.address;
  context.addIssue({ code: 'custom', message: parsed.problem });
  return z.NEVER;
});

const endpoint = address.superRefine(({ credentials }, context) => {
  if (credentials === null) return;
  context.addIssue({ code: 'custom', message: 'must not hold a login: it has fields of its own' });
});

const secret = z.string(must('text; put quotes around digits')).min(1, 'must not be empty');
/** What stands between the dashes of a user name. */
const accountName = secret.regex(/^[\w.-]+$/, 'must be letters, digits, dots, dashes and underscores');

const shared = {
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be lower-case letters, digits and dashes')
    .optional(),
  tier: z.enum(PROXY_TIERS, must(`one of ${PROXY_TIERS.join(', ')}`)),
  privateNetwork: z.boolean(must('true or false')).default(false),
};
const gateway = {
  ...shared,
  endpoint: endpoint.optional(),
  password: secret,
  exits: z
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(1_000, 'must be at most 1000')
    .default(32),
  sessionMinutes: z
    .int('must be a whole number')
    .min(1, 'must be 1 to 1440')
    .max(1_440, 'must be 1 to 1440')
    .default(10),
  countries: z.array(country).min(1, 'must name at least one country').optional(),
};

const provider = z.discriminatedUnion(
  'kind',
  [
    z.strictObject({ kind: z.literal('brightdata'), ...gateway, customer: accountName, zone: accountName }),
    z.strictObject({ kind: z.literal('oxylabs'), ...gateway, username: accountName }),
    z.strictObject({ kind: z.literal('smartproxy'), ...gateway, username: accountName }),
    z.strictObject({
      kind: z.literal('list'),
      ...shared,
      proxies: z
        .array(
          z.union([address, z.strictObject({ url: address, country: country.optional() })], {
            error: 'must be a proxy like http://user:password@host:port, or { url, country } with one',
          }),
        )
        .min(1, 'must have at least one proxy')
        .max(MAX_LISTED, `must have at most ${MAX_LISTED} proxies`),
    }),
  ],
  { error: 'must have a `kind`: one of brightdata, oxylabs, smartproxy, list' },
);

const fileSchema = z.strictObject({
  cooldownMs: z
    .int('must be whole milliseconds')
    .min(0, 'must not be negative')
    .max(3_600_000, 'must be at most an hour')
    .default(30_000),
  selection: z.enum(['first', 'least-loaded'], must('first or least-loaded')).default('first'),
  checkUrl: z.httpUrl('must be an http or https URL').optional(),
  checkEveryMs: z
    .int('must be whole milliseconds')
    .min(1_000, 'must be at least 1000')
    .max(86_400_000, 'must be at most a day')
    .default(60_000),
  providers: z
    .array(provider)
    .min(1, 'must have at least one provider')
    .max(100, 'must have at most 100 providers'),
});

type ParsedProvider = z.infer<typeof provider>;

/** Reads a proxy file. `name` is what messages call it. Throws with every problem, each with its line. */
export function parseProxyFile(text: string, name = 'proxies.yaml'): ProxyConfig {
  if (text.length > MAX_FILE_CHARACTERS) throw invalid(name, [wholeFile('is larger than 4 MiB')]);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  // A tag is only a warning to YAML, but then a password that begins with ! would be lost.
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) {
    throw invalid(
      name,
      faults.map(({ code, pos }) => ({
        line: lines.linePos(pos[0]).line,
        at: '',
        problem: yamlProblem(code),
      })),
    );
  }
  let content: unknown;
  try {
    content = document.toJS();
  } catch {
    throw invalid(name, [wholeFile(yamlProblem('BAD_ALIAS'))]);
  }
  const { data, problems } = parsePlainly(fileSchema, content ?? {});
  const lineOf = (path: readonly PropertyKey[]) => lineOfPath(path, document, lines);
  if (problems !== null) {
    throw invalid(
      name,
      problems.map(({ path, text }) => ({ line: lineOf(path), at: shownPath(path), problem: text })),
    );
  }
  const providers = data.providers.map(toProvider);
  const clashes = problemsBetween(providers, lineOf);
  if (clashes.length > 0) throw invalid(name, clashes);
  const { selection, cooldownMs, checkEveryMs, checkUrl = null } = data;
  return { providers, selection, cooldownMs, checkUrl, checkEveryMs };
}

/** The name of the provider that the environment makes up. */
const ENVIRONMENT = 'environment';

/**
 * Proxies as the environment lists them, separated by commas, behind those of the file; null where there are neither.
 * Throws INVALID_PROXY_FILE for an entry that is no proxy, by its number.
 */
export function withListedProxies(file: ProxyConfig | null, list: string): ProxyConfig | null {
  const entries = list
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  if (entries.length === 0) return file;
  const proxies = entries.map((entry, index): ListedProxy => {
    const parsed = parseProxyUrl(entry);
    if (parsed.kind === 'address') return { ...parsed.address, country: null };
    throw new ScrapifieError(
      'INVALID_PROXY_FILE',
      `SCRAPIFIE_PROXIES: the proxy number ${index + 1} ${parsed.problem}.`,
    );
  });
  const listed: ProxyProvider = {
    kind: 'list',
    name: ENVIRONMENT,
    tier: 'datacenter',
    isPrivateAllowed: false,
    proxies,
  };
  const usual = { ...fileSchema.omit({ providers: true }).parse({}), checkUrl: null, providers: [] };
  const { providers, ...rules } = file ?? usual;
  if (providers.some(({ name }) => name === ENVIRONMENT)) {
    throw new ScrapifieError(
      'INVALID_PROXY_FILE',
      `A provider of the proxy file is called ${ENVIRONMENT}, as SCRAPIFIE_PROXIES is: give it another name.`,
    );
  }
  return { ...rules, providers: [...providers, listed] };
}

function toProvider(parsed: ParsedProvider): ProxyProvider {
  const { kind, tier, name = kind, privateNetwork: isPrivateAllowed } = parsed;
  if (kind === 'list') {
    const proxies = parsed.proxies.map((entry): ListedProxy => {
      return 'url' in entry ? { ...entry.url, country: entry.country ?? null } : { ...entry, country: null };
    });
    return { kind, name, tier, isPrivateAllowed, proxies };
  }
  const { protocol, host, port } = parsed.endpoint ?? address.parse(ENDPOINTS[kind]);
  const { exits, sessionMinutes, countries = null } = parsed;
  const credentials = new ProxyCredentials(baseUsername(parsed), parsed.password);
  return {
    kind,
    name,
    tier,
    isPrivateAllowed,
    protocol,
    host,
    port,
    credentials,
    exits,
    sessionMinutes,
    countries,
  };
}

/** People copy names from dashboards, where some already have the prefix. */
function baseUsername(parsed: Exclude<ParsedProvider, { kind: 'list' }>): string {
  const account = parsed.kind === 'brightdata' ? parsed.customer : parsed.username;
  const { prefix } = CONVENTIONS[parsed.kind];
  const full = account.startsWith(prefix) ? account : prefix + account;
  return parsed.kind === 'brightdata' ? `${full}-zone-${parsed.zone}` : full;
}

type LineOf = (path: readonly PropertyKey[]) => number;

/** Names decide ids, and ids decide statistics: two providers of one name would be one to every reader. */
function problemsBetween(providers: readonly ProxyProvider[], lineOf: LineOf): FileProblem[] {
  const seen = new Set<string>();
  return providers.flatMap((each, index) => {
    const found: FileProblem[] = [];
    const path = ['providers', index];
    if (seen.has(each.name)) {
      const problem = `has the same name as another (${each.name}): give it a \`name\``;
      found.push({ line: lineOf(path), at: path.join('.'), problem });
    }
    seen.add(each.name);
    const login = each.kind === 'list' ? null : loginProblem(each);
    if (login !== null) found.push({ line: lineOf(path), at: path.join('.'), problem: login });
    return found;
  });
}

function loginProblem({ protocol, credentials }: GatewayProvider): string | null {
  // Country and session make the user name longer by less than this.
  return credentialsProblem(protocol, credentials.username + 'x'.repeat(64), credentials.password);
}

/** What stands where a name should may be anything, a URL with a password too. */
const shownPath = (path: readonly string[]): string =>
  path.map((name) => (/^(?:\d+|[A-Za-z]\w{0,40})$/.test(name) ? name : '(a field)')).join('.');

function yamlProblem(code: string): string {
  return `is not valid YAML (${code}); put quotes around values with signs like * & ! @ # or :`;
}

/** The problems repeat no value of the file, since any value could be a password. */
function invalid(name: string, problems: readonly FileProblem[]): ScrapifieError {
  return new ScrapifieError('INVALID_PROXY_FILE', `Proxy file ${name}: ${describeProblems(problems)}`, {
    details: problems,
  });
}
