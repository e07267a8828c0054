import { createHttpEngine, type HttpEngineOptions } from '../http/http-engine.ts';
import {
  createImpersonatingEngine,
  type ImpersonatingEngine,
  type ImpersonatingEngineOptions,
} from './impersonating-engine.ts';

export type WebEngineOptions = HttpEngineOptions & Omit<ImpersonatingEngineOptions, 'plain'>;

/** The `http` engine for everybody: requests without an identity are ours, those with one look like its browser's. */
export function createWebEngine(options: WebEngineOptions): ImpersonatingEngine {
  const plain = createHttpEngine(options);
  const impersonating = createImpersonatingEngine({ ...options, plain });
  return {
    name: plain.name,
    get handshake() {
      return impersonating.handshake;
    },
    fetch: (request) =>
      request.identity === undefined ? plain.fetch(request) : impersonating.fetch(request),
    async close() {
      await Promise.all([impersonating.close(), plain.close()]);
    },
  };
}
