import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const PLATFORM = fileURLToPath(new URL('./platform.ts', import.meta.url));
const API = fileURLToPath(new URL('../http/api.ts', import.meta.url));

test('packages that few installations need are not loaded with the program', async () => {
  const script = `
    const loaded = new Set();
    const { registerHooks } = await import('node:module');
    registerHooks({ load(url, context, next) { loaded.add(url); return next(url, context); } });
    await import(${JSON.stringify(PLATFORM)});
    await import(${JSON.stringify(API)});
    const names = ['nodemailer', 'jose', 'patchright-core', 'bullmq', 'ioredis', 'pg', '@opentelemetry/sdk-trace', 'fastify'];
    console.log(JSON.stringify(names.filter((name) => [...loaded].some((url) => url.includes('/node_modules/' + name + '/')))));
    process.exit();`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  expect(JSON.parse(stdout)).toEqual(['fastify']);
});
