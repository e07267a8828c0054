// Checks the registry's signatures of the packages that are installed.
import { spawnSync } from 'node:child_process';
import { signatureVerdict } from './signature-verdict.ts';

const LIMIT_MS = 60_000;
const { status, stdout } = spawnSync('npm', ['audit', 'signatures', '--json', '--fetch-retries=0'], {
  encoding: 'utf8',
  timeout: LIMIT_MS,
});
const { isRefused, message } = signatureVerdict(status ?? 1, stdout ?? '');
console.error(`scrapifie: ${message}`);
process.exitCode = isRefused ? 1 : 0;
