import { parseEnv } from 'node:util';
import type { Deployment } from '../deployment.ts';
import { readText } from './dockerfile.ts';

const UNIT = 'deploy/systemd/scrapifie.service';
const ENVIRONMENT_FILE = 'deploy/systemd/scrapifie.env';

/** Directives of a unit by their names, each with all its values. */
export function unitDirectives(text: string): ReadonlyMap<string, readonly string[]> {
  const lines = [...text.matchAll(/^([A-Z]\w+)=(.*)$/gm)];
  return new Map(
    lines.map(([, name = '']) => [
      name,
      lines.flatMap(([, other, value = '']) => (other === name ? [value] : [])),
    ]),
  );
}

export function systemdDeployment(): Deployment {
  const unit = unitDirectives(readText(UNIT));
  const one = (name: string) => unit.get(name)?.at(-1) ?? '';
  const [, ...args] = one('ExecStart').split(' ');
  const variables = {
    ...parseEnv((unit.get('Environment') ?? []).join('\n')),
    ...parseEnv(readText(ENVIRONMENT_FILE)),
  } as Record<string, string>;
  return {
    name: UNIT,
    processes: [
      {
        name: 'scrapifie',
        args,
        variables,
        secretFiles: [],
        writable: [`/var/lib/${one('StateDirectory')}`, ...(one('PrivateTmp') === 'yes' ? ['/tmp'] : [])],
        readable: ['/etc/scrapifie'],
        isReadOnly: one('ProtectSystem') === 'strict',
        user: one('User'),
        // The machine's own, which `scrapifie doctor` finds.
        hasBrowser: true,
        ports: [],
        httpPaths: [],
        graceMs: Number(one('TimeoutStopSec')) * 1_000,
      },
    ],
  };
}
