import { Console } from 'node:console';
import { describeFailure } from './cli/failure.ts';
import { prepareOutput } from './cli/output/screen.ts';
import { run } from './cli/program.ts';
import { keepThreadLimits } from './core/config/thread-memory.ts';
import { EXIT } from './core/errors/registry.ts';
import { createShell } from './wiring/shell.ts';

keepThreadLimits();

/** The one place that reads the environment and the command line. */
const shell = createShell({
  environment: process.env,
  cwd: process.cwd(),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
});

// Standard output is for results and for the messages of MCP alone; what plug-ins and packages log goes beside it.
Object.assign(console, new Console(process.stderr));
prepareOutput(process.stdout);
// unguarded: there is nothing above this file that could report an error of these.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader of the output (`| head`) has seen enough. Every other error fails the command, which looks for it.
  if (error.code === 'EPIPE') process.exit(EXIT.ok);
});
// Progress and notes that have no reader any more (`2>&1 | head`) are dropped: what the command does goes on.
process.stderr.on('error', () => undefined);
/** A server has listeners of its own (cli/shell/interrupt.ts), which let it finish its work first. */
const die =
  (event: 'uncaughtException' | 'unhandledRejection') =>
  (error: unknown): void => {
    if (process.listenerCount(event) > 1) return;
    process.stderr.write(describeFailure(error, shell.environment));
    process.exit(EXIT.unexpected);
  };
// unguarded: these are what the errors of all others come to.
process.on('uncaughtException', die('uncaughtException'));
process.on('unhandledRejection', die('unhandledRejection'));

const exitCode = await run(process.argv.slice(2), shell);
// Nothing that is still open keeps a command that is done from ending.
process.stdout.write('', () => process.exit(exitCode));
