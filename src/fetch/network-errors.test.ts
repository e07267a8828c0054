import { describe, expect, it } from 'vitest';
import { asScrapifieError } from '../core/errors/scrapifie-error.ts';
import { isHostFault, repeatedWithoutCharge } from '../crawl/plan/outcome.ts';
import { mapError } from './network-errors.ts';

const errno = (code: string) => Object.assign(new Error(`connect ${code}`), { code, errno: -24 });
const url = new URL('https://shop.example/');

describe('an error of a process that can open no file or connection more', () => {
  it.each([
    ['the process', errno('EMFILE')],
    ['the machine', errno('ENFILE')],
    ['a library', new TypeError('fetch failed', { cause: errno('EMFILE') })],
    ['one of several addresses', new AggregateError([errno('ECONNREFUSED'), errno('EMFILE')])],
  ])('is no failure of the host: %s', (_of, error) => {
    for (const phase of ['connect', 'sent'] as const)
      expect(mapError(error, url, phase).code).toBe('OUT_OF_FILES');
    expect(asScrapifieError(error).code).toBe('OUT_OF_FILES');
  });

  it('has the task tried again later, without charge and without blame for the host', () => {
    expect(repeatedWithoutCharge('OUT_OF_FILES', 'http')).toBe('later');
    expect(isHostFault({ outcome: 'error', statusCode: null, errorCode: 'OUT_OF_FILES' })).toBe(false);
  });

  it('is not seen in other errors', () => {
    const circular = new Error('in a circle');
    circular.cause = circular;
    for (const error of [circular, null, 'EMFILE', errno('ECONNREFUSED')]) {
      expect(asScrapifieError(error).code).toBe('INTERNAL');
    }
    expect(mapError(errno('ECONNREFUSED'), url, 'connect').code).toBe('CONNECT_FAILED');
  });
});
