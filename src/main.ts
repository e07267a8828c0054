import { tmpdir } from 'node:os';
import { describeFailure } from './cli/failure.ts';
import { prepareOutput } from './cli/output/standard-output.ts';
import { run } from './cli/program.ts';
import type { Shell } from './cli/shell/shell.ts';
import { EXIT } from './errors/registry.ts';
import { VERSION } from './version.ts';

/** The one place that reads the environment and the command line; the parts are loaded when a command needs them. */
const shell: Shell = {
  environment: process.env,
  cwd: process.cwd(),
  version: VERSION,
  stdout: process.stdout,
  stderr: process.stderr,
  openPlatform: async (options) => (await import('./wiring/platform.ts')).openPlatform(options),
  openStorage: async (place) => (await import('./wiring/storage.ts')).openStorage(place),
  removeAbandonedFolders: async (prefix) =>
    (await import('./wiring/abandoned-folders.ts')).removeAbandonedFolders(tmpdir(), prefix, Date.now()),
  openExtractor: async (threads) => (await import('./wiring/open-extractor.ts')).openExtractor(threads),
  checkRedis: async (url) => (await import('./wiring/open-links.ts')).checkRedis(url),
  backupTools: async () => (await import('./wiring/backups.ts')).BACKUP_TOOLS,
  confineBrowsers: async (path) => (await import('./wiring/render-lanes.ts')).confineBrowsers(path),
  shippedPolicy: async () => (await import('./wiring/platform.ts')).SHIPPED_POLICY,
};

prepareOutput(process.stdout);
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader of the output (`| head`) has seen enough. Every other error fails the command, which looks for it.
  if (error.code === 'EPIPE') process.exit(EXIT.ok);
});
// Progress and notes that have no reader any more (`2>&1 | head`) are dropped: what the command does goes on.
process.stderr.on('error', () => undefined);
const die = (error: unknown): void => {
  process.stderr.write(describeFailure(error, shell.environment));
  process.exit(EXIT.unexpected);
};
process.on('uncaughtException', die);
process.on('unhandledRejection', die);

const exitCode = await run(process.argv.slice(2), shell);
// Nothing that is still open keeps a command that is done from ending.
process.stdout.write('', () => process.exit(exitCode));
