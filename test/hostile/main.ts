import { HOSTILE_PATHS, startHostileSite } from './http1-site.ts';
import { HTTP2_FLOODS, startHttp2Flood } from './http2-floods.ts';

/**
 * Hostile servers as a program, to attack a running Scrapifie with: prints one URL on each line, those of HTTP/1.1
 * and then one server for each flood of HTTP/2 frames (with a self-signed certificate), and serves until it is
 * told to stop.
 */
const site = await startHostileSite();
const floods = await Promise.all(
  HTTP2_FLOODS.map(async (kind) => [kind, await startHttp2Flood(kind)] as const),
);
for (const path of Object.keys(HOSTILE_PATHS)) process.stdout.write(`${site.origin}${path}\n`);
for (const [kind, { origin }] of floods) process.stdout.write(`${origin}/${kind}\n`);

const stop = async (): Promise<void> => {
  await Promise.all([site.close(), ...floods.map(([, server]) => server.close())]);
};
process.once('SIGTERM', () => void stop());
process.once('SIGINT', () => void stop());
