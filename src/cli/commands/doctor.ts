import type { Settings } from '../../core/config/settings.ts';
import { EXIT } from '../../core/errors/registry.ts';
import { findBrowser } from '../../fetch/browser/pool/find-browser.ts';
import { checkSettings, examine, type NamedFinding, TRIAL_SCRAPES } from '../doctor/doctor-checks.ts';
import { installBrowser } from '../doctor/doctor-install.ts';
import { portNumber } from '../flags/flag-values.ts';
import { FLAGS } from '../flags/flags.ts';
import { dataPlaceOf } from '../folders/data-folder.ts';
import { helpBelow } from '../output/help.ts';
import { screenOf } from '../output/screen.ts';
import { details } from '../output/table.ts';
import type { DefineCommand, Shell } from '../shell/shell.ts';

const SIGNS: Readonly<Record<NamedFinding['state'], string>> = { ok: 'ok', warn: 'warn', fail: 'FAIL' };

const EXAMPLES = `
Looks at the machine, at every server and service that the settings name, and scrapes a page of its own, with a browser
too. Nothing of the installation is changed. Ends with 5 when something will not work; warnings do not count.

Examples:
  scrapifie doctor
  scrapifie doctor --install
  scrapifie doctor --no-scrape           without the two scrapes: it takes a moment and starts no browser
  scrapifie doctor --port 8080 --json`;

export const define: DefineCommand = (command, shell, endWith) => {
  command
    .addOption(FLAGS.dataDir())
    .option('--port <n>', 'port the server will use', portNumber)
    .option('--host <address>', 'address the server will use')
    .option('--install', 'install a browser first when none is found: by apt-get, else as Playwright has it')
    .option('--no-scrape', 'leave out the trial scrapes, which start a browser')
    .addOption(FLAGS.json())
    .addHelpText('afterAll', helpBelow(EXAMPLES))
    .action(
      async (flags: {
        readonly dataDir?: string;
        readonly port?: number;
        readonly host?: string;
        readonly install?: true;
        readonly scrape: boolean;
        readonly json?: true;
      }) => {
        const { port, host } = flags;
        const found = checkSettings(shell, { port, host });
        const findings: NamedFinding[] = [found.finding];
        if (found.usable !== null) {
          const { usable } = found;
          const settings = { ...usable.settings, ...dataPlaceOf(usable.shell, flags.dataDir) };
          if (flags.install) await installWhereMissing(usable.shell, settings);
          const except = new Set(flags.scrape ? [] : TRIAL_SCRAPES);
          findings.push(...(await examine({ shell: usable.shell, settings }, except)));
        }
        shell.stdout.write(
          flags.json
            ? `${JSON.stringify(findings, null, 2)}\n`
            : details(
                screenOf(shell),
                findings.flatMap((finding) => [
                  [SIGNS[finding.state], finding.check, finding.found],
                  ...(finding.state === 'ok' ? [] : [['', '', `→ ${finding.advice}`]]),
                ]),
              ),
        );
        if (findings.some(({ state }) => state === 'fail')) endWith(EXIT.environment);
      },
    );
};

/** Installs a browser when none is found. A browser that the settings name is the operator's to install. */
async function installWhereMissing({ environment, stderr }: Shell, { browserPath }: Settings): Promise<void> {
  if (browserPath !== undefined || (await findBrowser({ executable: null, env: environment })) !== null)
    return;
  await installBrowser({ environment, say: (line) => stderr.write(`scrapifie: ${line}\n`) });
}
