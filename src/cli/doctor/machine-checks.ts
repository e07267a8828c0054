import { lookup } from 'node:dns/promises';
import { constants } from 'node:fs';
import { access, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { availableParallelism, tmpdir, totalmem } from 'node:os';
import { getCACertificates } from 'node:tls';
import {
  budgetFiles,
  LEAST_OPEN_FILES,
  openFileLimit,
  RAISE_OPEN_FILES,
} from '../../core/config/open-files.ts';
import { listenOnce } from '../../core/errors/guarded.ts';
import { describeBytes } from '../../lib/human-units.ts';
import { within } from '../../lib/waits.ts';
import { type Check, failure, fine, warning } from './finding.ts';

const LEAST_NODE = 24;
const LEAST_MEMORY_BYTES = 200_000_000;
/** Memory that the program needs together with a browser. */
const LOW_MEMORY_BYTES = 1_000_000_000;
const LOW_TEMPORARY_BYTES = 256_000_000;
/** The year of this program: an earlier clock is wrong. */
const LEAST_YEAR = 2026;
const DNS_MS = 3_000;
/** A name that is kept for examples and always there (RFC 2606). */
const KNOWN_NAME = 'example.com';

/** What the program needs of the machine, whatever it does there. */
export const MACHINE_CHECKS = {
  async 'Node.js'() {
    const major = Number(process.versions.node.split('.')[0]);
    if (major >= LEAST_NODE) return fine(process.version);
    return failure(process.version, `install Node.js ${LEAST_NODE} or newer`);
  },

  async memory() {
    // A container's limit, where there is one: 0, or more than the machine has, means none.
    const limit = process.constrainedMemory();
    const bytes = limit > 0 && limit < totalmem() ? limit : totalmem();
    const found = `${describeBytes(bytes)}${bytes === limit ? ' (limit of the container)' : ''}, ${availableParallelism()} processors`;
    if (bytes >= LOW_MEMORY_BYTES) return fine(found);
    const advice = 'give it 1 GB or more: a browser alone takes 400 MB, and the program 200 MB';
    return bytes >= LEAST_MEMORY_BYTES ? warning(found, advice) : failure(found, advice);
  },

  async 'open files'({ settings }) {
    const limit = openFileLimit();
    if (limit === null) return fine('no limit');
    const advice = RAISE_OPEN_FILES.replace(/^R|\.$/g, (found) => found.replace('.', '').toLowerCase());
    if (limit < LEAST_OPEN_FILES) return failure(`limit ${limit}, too small for a server`, advice);
    const { isShort, maxConcurrency, maxConnections } = budgetFiles(limit, settings);
    if (!isShort) return fine(`limit ${limit}`);
    return warning(
      `limit ${limit}: enough for ${maxConcurrency} fetches and ${maxConnections} connections of clients at once`,
      advice,
    );
  },

  async 'temporary files'() {
    const folder = tmpdir();
    try {
      await access(folder, constants.W_OK | constants.X_OK);
    } catch {
      return failure(
        `${folder} cannot be written`,
        'set TMPDIR to a folder that can, or mount one there (tmpfs)',
      );
    }
    const { bavail, bsize } = await statfs(folder);
    const found = `${folder}, ${describeBytes(bavail * bsize)} free`;
    if (bavail * bsize >= LOW_TEMPORARY_BYTES) return fine(found);
    return warning(
      found,
      'make room there: browsers keep their profiles in it, and use it in place of /dev/shm',
    );
  },

  async clock() {
    const now = new Date();
    const found = `${now.toISOString()}, time zone ${Intl.DateTimeFormat().resolvedOptions().timeZone}`;
    if (now.getUTCFullYear() >= LEAST_YEAR) return fine(found);
    return failure(
      found,
      'set the clock, best by a time server (NTP): certificates, schedules and leases need it',
    );
  },

  async DNS({ settings: { replay } }) {
    if (replay !== undefined) return fine('not used: an archive answers in place of the web');
    try {
      const { address } = await within(DNS_MS, lookup(KNOWN_NAME));
      return fine(`${KNOWN_NAME} is ${address}`);
    } catch (error) {
      const why = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
      return warning(
        `${KNOWN_NAME} cannot be resolved (${why})`,
        'check /etc/resolv.conf, or the DNS of the container; without names only addresses and known hosts can be fetched',
      );
    }
  },

  async TLS({ shell: { environment } }) {
    const { NODE_EXTRA_CA_CERTS: extra = '', NODE_TLS_REJECT_UNAUTHORIZED: rejects } = environment;
    if (rejects === '0') {
      return failure(
        'certificates are not checked (NODE_TLS_REJECT_UNAUTHORIZED=0)',
        'unset it: everything that is sent over TLS can be read and changed on the way; NODE_EXTRA_CA_CERTS adds your own CA',
      );
    }
    if (extra !== '') {
      try {
        await access(extra, constants.R_OK);
      } catch {
        return failure(
          `NODE_EXTRA_CA_CERTS names ${extra}, which cannot be read`,
          'correct the path, or unset it',
        );
      }
    }
    const { length } = getCACertificates('default');
    if (length > 0) return fine(`${length} certificate authorities, OpenSSL ${process.versions.openssl}`);
    return failure(
      'no certificate authority is known',
      'install ca-certificates, or set NODE_EXTRA_CA_CERTS',
    );
  },

  async port({ shell, settings: { host, port, dataDir, databaseUrl } }) {
    const code = await tryToListen(host, port);
    if (code === null) return fine(`${host}:${port} is free`);
    if (code === 'EACCES') {
      return failure(
        `${host}:${port} is not allowed (EACCES)`,
        'choose a --port above 1023, or allow it to the process',
      );
    }
    if (code !== 'EADDRINUSE') {
      return failure(`${host}:${port} cannot be used (${code})`, 'choose another --host or --port');
    }
    if (!(await isScrapifie(host, port))) {
      return failure(`${host}:${port} is taken`, 'stop that program, or choose another --port');
    }
    // Processes on PostgreSQL do not lock their data folder.
    if (databaseUrl !== undefined || (await shell.inspect.folderLock(dataDir))) {
      return fine(`${host}:${port} is served by Scrapifie`);
    }
    return warning(
      `${host}:${port} is served by another Scrapifie, which does not work in ${dataDir}`,
      'choose another --port, stop that server, or name its folder with --data-dir: `serve` would end with PORT_IN_USE',
    );
  },

  async contact({ settings: { contact } }) {
    if (contact !== undefined) return fine(contact);
    return warning(
      'not set',
      'set SCRAPIFIE_CONTACT to a URL or an e-mail address, so that site owners can reach you',
    );
  },
} as const satisfies Readonly<Record<string, Check>>;

/** The code of the error, or null when it worked. */
function tryToListen(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    listenOnce(server, 'error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port }, () => server.close(() => resolve(null)));
  });
}

async function isScrapifie(host: string, port: number): Promise<boolean> {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  const name = reachable.includes(':') ? `[${reachable}]` : reachable;
  try {
    const answer = await fetch(`http://${name}:${port}/healthz`, { signal: AbortSignal.timeout(2_000) });
    const { data } = (await answer.json()) as { data?: { status?: unknown; version?: unknown } };
    return data?.status === 'ok' && typeof data.version === 'string';
  } catch {
    return false;
  }
}
