import { fileURLToPath } from 'node:url';

/** The program as tests start it: bundled in a run of all tests, else its sources. */
export const PROGRAM = process.env.TEST_PROGRAM ?? fileURLToPath(new URL('../src/main.ts', import.meta.url));
