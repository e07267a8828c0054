import { readFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { type Document, LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { parsePlainly } from '../../core/config/plain-problems.ts';
import { pluginPart } from '../../core/config/plugin-part.ts';
import type { Settings } from '../../core/config/settings.ts';
import {
  describeProblems,
  type FileProblem,
  lineOfPath,
  MAX_FILE_CHARACTERS,
  wholeFile,
} from '../../core/config/yaml-file.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { WEB_ENGINES } from '../../core/model/attempt.ts';
import type { AllowedHours } from '../../core/model/policy.ts';
import { PROXY_TIERS } from '../../core/model/proxy.ts';
import type { Logger } from '../../core/observe/logger.ts';
import type { Bus } from '../../core/ports/bus.ts';
import type { OptOut } from '../../core/ports/site-owner-store.ts';
import type { Store } from '../../core/ports/store.ts';
import { defined } from '../../lib/defined.ts';
import { hoursProblem } from '../politeness/hours.ts';
import { buildPolicies, hostPattern, type Policies, type PolicyEntry, type PolicyFile } from './policies.ts';

const DAY_NAMES = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

const day = z.union([z.int().min(0).max(6), z.enum(DAY_NAMES).transform((name) => DAY_NAMES.indexOf(name))], {
  error: `must be one of ${DAY_NAMES.join(', ')}, or 0 (Sunday) to 6`,
});
const allowedHours = z
  .strictObject({
    from: z.string(),
    to: z.string(),
    timeZone: z.string(),
    days: z.array(day).max(7).default([]),
  })
  .superRefine((hours: AllowedHours, context) => {
    const problem = hoursProblem(hours);
    if (problem !== null) context.addIssue({ code: 'custom', message: problem });
  });

const RATE_PROBLEM = 'must be requests per second (more than 0) or `unlimited`';

const fields = {
  rate: z.union([z.literal('unlimited'), z.number().positive(RATE_PROBLEM).max(100_000)], {
    error: RATE_PROBLEM,
  }),
  burst: z.int().min(1).max(1_000),
  concurrency: z.int().min(1).max(1_000),
  delayMs: z.int().min(0).max(3_600_000),
  maxCrawlDelayMs: z.int().min(0).max(86_400_000),
  slowDownMs: z.int().min(1_000).max(900_000),
  allowedHours: allowedHours.nullable(),
  robots: z.enum(['obey', 'ignore']),
  engines: z.array(z.union([z.enum(WEB_ENGINES), pluginPart])).min(1),
  actionPauseMs: z
    .strictObject({ min: z.int().min(0).max(60_000), max: z.int().min(0).max(60_000) })
    .refine(({ min, max }) => min <= max, '`min` must not be more than `max`')
    .nullable(),
  proxyTier: z.string().min(1).nullable(),
  maxProxyTier: z.enum(PROXY_TIERS, { error: `must be one of ${PROXY_TIERS.join(', ')}` }).nullable(),
  deny: z.boolean(),
  notes: z.string(),
};

const domainEntry = z
  .strictObject({ ...fields, consent: z.array(z.enum(['robots', 'stealth', 'captcha', 'identity'])) })
  .partial()
  .superRefine((entry, context) => {
    const needs = (consent: 'robots' | 'stealth', field: 'robots' | 'engines', what: string) => {
      if (entry.consent?.includes(consent)) return;
      context.addIssue({
        code: 'custom',
        path: [field],
        message: `${what} needs \`consent: [${consent}]\` here`,
      });
    };
    if (entry.robots === 'ignore') needs('robots', 'robots', 'ignoring robots.txt');
    if (entry.engines?.includes('stealth')) needs('stealth', 'engines', 'the stealth engine');
  });

/** Consent is given for named domains, so the default must not contain fields that need it. */
const defaultEntry = z
  .strictObject({
    ...fields,
    robots: z.literal('obey', { error: 'only a domain with `consent: [robots]` may ignore robots.txt' }),
  })
  .partial();

const host = z.string().superRefine((text, context) => {
  if (hostPattern(text) !== null) return;
  context.addIssue({
    code: 'custom',
    message: 'must be a host like example.com, *.example.com or localhost:8080',
  });
});

const policyFileSchema = z.strictObject({
  default: defaultEntry.nullable().optional(),
  domains: z.record(host, domainEntry.nullable()).nullable().optional(),
  denyList: z.array(host).nullable().optional(),
  allowList: z.array(host).optional(),
});

/** Reads policies from a file. Throws INVALID_POLICY with every problem, each with its line. */
export function loadPolicyFile(path: string, optOuts: readonly OptOut[] = []): Policies {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw unreadable(path, error);
  }
  return buildPolicies(parsePolicyFile(text, path), optOuts);
}

/** Parses the text of a policy file; `name` is what messages call it. */
export function parsePolicyFile(text: string, name: string): PolicyFile {
  if (text.length > MAX_FILE_CHARACTERS) throw invalid(name, [wholeFile('is larger than 4 MiB')]);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0) {
    throw invalid(
      name,
      document.errors.map(({ message, pos }) => ({
        line: lines.linePos(pos[0]).line,
        at: '',
        problem: message,
      })),
    );
  }
  let content: unknown;
  try {
    content = document.toJS();
  } catch (error) {
    throw invalid(name, [wholeFile(error instanceof Error ? error.message : String(error))]);
  }
  const { data, problems } = parsePlainly(policyFileSchema, content ?? {});
  if (problems !== null) {
    throw invalid(
      name,
      problems.map(({ path, text }) => ({
        line: lineOfPath(path, document, lines),
        at: path.join('.'),
        problem: text,
      })),
    );
  }
  const repeated = repeatedHosts(Object.keys(data.domains ?? {}), document, lines);
  if (repeated.length > 0) throw invalid(name, repeated);
  return toPolicyFile(data);
}

type ParsedFile = z.infer<typeof policyFileSchema>;
type ParsedEntry = z.infer<typeof domainEntry>;

function toPolicyFile(parsed: ParsedFile): PolicyFile {
  const patterns = (list: readonly string[]) => list.map((text) => hostPattern(text) ?? text);
  return {
    default: toEntry(parsed.default ?? {}),
    domains: new Map(
      Object.entries(parsed.domains ?? {}).map(([key, entry]) => [
        hostPattern(key) ?? key,
        toEntry(entry ?? {}),
      ]),
    ),
    denyList: patterns(parsed.denyList ?? []),
    allowList: parsed.allowList === undefined ? null : patterns(parsed.allowList),
  };
}

function toEntry(entry: ParsedEntry): PolicyEntry {
  const { rate, delayMs, ...same } = entry;
  // A missing field stays missing: an undefined one would erase that of a less specific entry.
  const given = Object.fromEntries(Object.entries(same).filter(([, value]) => value !== undefined));
  return {
    ...given,
    ...(rate === undefined ? {} : { ratePerSecond: rate === 'unlimited' ? null : rate }),
    ...defined({ minDelayMs: delayMs }),
  };
}

/** Two spellings of one host would make it a matter of chance which of their entries applies. */
function repeatedHosts(keys: readonly string[], document: Document, lines: LineCounter): FileProblem[] {
  const first = new Map<string, string>();
  return keys.flatMap((key) => {
    const pattern = hostPattern(key) ?? key;
    const other = first.get(pattern);
    if (other === undefined) first.set(pattern, key);
    const path = ['domains', key];
    const line = lineOfPath(path, document, lines);
    return other === undefined ? [] : [{ line, at: path.join('.'), problem: `is the same host as ${other}` }];
  });
}

/** INVALID_POLICY for a file that cannot be opened at all. */
function unreadable(path: string, cause: unknown): ScrapifieError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  return invalid(path, [wholeFile(`cannot be read (${code})`)], cause);
}

function invalid(name: string, problems: readonly FileProblem[], cause?: unknown): ScrapifieError {
  return new ScrapifieError('INVALID_POLICY', `Policy file ${name}: ${describeProblems(problems)}`, {
    details: problems,
    cause,
  });
}

/** A watch on the policy file, until it is closed. */
export interface PolicyWatch {
  close(): void;
}

/**
 * Calls `onChange` with the policies of each new version of the file, and `onError` with INVALID_POLICY for a
 * version that is broken or for a file that is gone; the policies in force then stay as they are. Call it right after
 * loading: the version that is there now counts as known. Opt-outs are the caller's to add (`withOptOuts`).
 *
 * It looks at the file's stamp instead of asking the system for events, which get lost when an editor puts a new
 * file in the place of the old, and on network folders. A version is read once its stamp has stood still for one
 * look, because half a policy file is often a valid one that lacks the entry which forbids.
 */
export function watchPolicyFile(
  path: string,
  onChange: (policies: Policies) => void,
  onError: (error: ScrapifieError) => void,
  intervalMs = 500,
): PolicyWatch {
  let known = readKnown(path);
  let lastStamp = '';
  let readStamp = '';
  let isClosed = false;
  let timer = schedule();

  function schedule(): NodeJS.Timeout {
    return setTimeout(() => {
      void look().finally(() => {
        if (!isClosed) timer = schedule();
      });
    }, intervalMs).unref();
  }

  async function look(): Promise<void> {
    const stamp = await stampOf(path);
    const isSettled = stamp === lastStamp;
    lastStamp = stamp;
    if (!isSettled || stamp === readStamp || isClosed) return;
    let text: string | null = null;
    let failure: unknown;
    try {
      text = await readFile(path, 'utf8');
    } catch (error) {
      failure = error;
    }
    // Written again while it was read: the next look sees another stamp and begins anew.
    if ((await stampOf(path)) !== stamp || isClosed) return;
    readStamp = stamp;
    if (text === known) return;
    known = text;
    if (text === null) onError(unreadable(path, failure));
    else report(text);
  }

  function report(text: string): void {
    let policies: Policies;
    try {
      policies = buildPolicies(parsePolicyFile(text, path));
    } catch (error) {
      if (!(error instanceof ScrapifieError)) throw error;
      onError(error);
      return;
    }
    onChange(policies);
  }

  return {
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

function readKnown(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

async function stampOf(path: string): Promise<string> {
  try {
    const { mtimeMs, ctimeMs, size, ino } = await stat(path);
    return `${mtimeMs} ${ctimeMs} ${size} ${ino}`;
  } catch {
    return 'gone';
  }
}

/** The policies in force: those of the file, which is watched, and the opt-outs of the store. */
interface PolicySource {
  current(): Policies;
  close(): void;
}

/** A message about an opt-out may be lost, so opt-outs are read again this often. */
const REFRESH_MS = 60_000;

export async function openPolicies(
  file: Policies,
  path: Settings['policyFile'],
  { store, bus, logger }: { store: Pick<Store, 'listOptOuts'>; bus: Bus; logger: Logger },
): Promise<PolicySource> {
  let policies = file;
  const applyOptOuts = async () => {
    policies = policies.withOptOuts(await store.listOptOuts());
  };
  const refresh = () =>
    void applyOptOuts().catch((error: unknown) => logger.warn({ err: error }, 'reading opt-outs failed'));
  await applyOptOuts();
  const unsubscribe = bus.subscribe('policy.changed', refresh);
  const timer = setInterval(refresh, REFRESH_MS);
  timer.unref();
  const watch =
    path === undefined
      ? null
      : watchPolicyFile(
          path,
          (changed) => {
            policies = changed;
            refresh();
            logger.info('policy file reloaded');
          },
          (error) => logger.error({ code: error.code, details: error.details }, error.message),
        );
  return {
    current: () => policies,
    close() {
      unsubscribe();
      clearInterval(timer);
      watch?.close();
    },
  };
}
