import { z } from 'zod';
import { DEFAULT_TOKENS, MOST_TOKENS } from './tool.ts';

/** Fields that several tools have. */

export const url = z.string().max(8_192).describe('Absolute URL');
export const maxTokens = z
  .int()
  .min(200)
  .max(MOST_TOKENS)
  .default(DEFAULT_TOKENS)
  .describe('Size of the result');
export const cursor = z.string().max(2_000).optional().describe('From an earlier result, to go on');
export const jobId = z.string().max(100).describe('Job id');
export const id = z.string().max(100);
