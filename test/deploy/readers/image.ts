import type { Deployment } from '../deployment.ts';
import { imageConfig, readText, stagesOf } from './dockerfile.ts';

/** What `docker run` of each image starts, as the comment at the top of the Dockerfile says it. */
export function imageDeployment(): Deployment {
  const text = readText('Dockerfile');
  const { variables, user, entrypoint, command, healthcheck, ports, volumes } = imageConfig(
    stagesOf(text),
    'browser',
  );
  const [, flags = ''] = /^# docker run (.*)$/m.exec(text) ?? [];
  const [, published] = /--publish \S+:(\d+)/.exec(flags) ?? [];
  const [, tmpfs = ''] = /--tmpfs (\S+)/.exec(flags) ?? [];
  const [, checked] = /(\/\w+)`/.exec(healthcheck.join(' ')) ?? [];
  return {
    name: 'Dockerfile',
    processes: [
      {
        name: 'browser',
        args: [...entrypoint.slice(entrypoint.indexOf('/app/scrapifie') + 1), ...command],
        variables,
        secretFiles: [],
        writable: [...volumes, tmpfs],
        readable: [],
        isReadOnly: flags.includes('--read-only'),
        user,
        hasBrowser: 'SCRAPIFIE_BROWSER_PATH' in variables,
        ports: [...ports, Number(published)],
        httpPaths: [checked ?? 'no path'],
        // `docker stop --time`; without it Docker kills after ten seconds, and docs/deployment.md says so.
        graceMs: 60_000,
      },
    ],
  };
}
