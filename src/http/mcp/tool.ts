import { z } from 'zod';
import type { ApiCall } from './api-call.ts';

/** Tokens of one result, unless the call asks for fewer or more. */
const DEFAULT_TOKENS = 6_000;
export const MOST_TOKENS = 20_000;

interface TextPart {
  readonly type: 'text';
  readonly text: string;
}
interface ImagePart {
  readonly type: 'image';
  readonly data: string;
  readonly mimeType: string;
}
export interface LinkPart {
  readonly type: 'resource_link';
  readonly uri: string;
  readonly name: string;
  readonly mimeType: string;
}
export type Part = TextPart | ImagePart | LinkPart;

/** An export as the API answers it. */
export interface ExportAnswer {
  readonly id: string;
  readonly jobId: string;
  readonly type: string;
  readonly format: string;
  readonly status: string;
  readonly url: string | null;
}

export interface ToolContext {
  readonly api: ApiCall;
  /** Where the file of an export that is ready can be read. */
  readonly exportUri: (of: ExportAnswer) => Promise<string>;
  readonly signal: AbortSignal | undefined;
  /** Tells the client how far a call is; does nothing where the client has not asked for it. */
  progress(done: number, total: number | null, message: string): Promise<void>;
}

/** A tool as models see it. `description` and the schema count against the tokens of every conversation: keep them short. */
export interface Tool<S extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: S;
  /** Changes nothing outside: it reads pages or stored data. */
  readonly isReadOnly: boolean;
  run(input: z.output<S>, context: ToolContext): Promise<readonly Part[]>;
}

/** Keeps the type of the schema for `run`. Calls with an argument that the tool has not are refused, with those that it has. */
export function tool<S extends z.ZodObject>(definition: Tool<S>): Tool {
  const { shape } = definition.input;
  const known = Object.keys(shape).join(', ');
  const input = z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `There is no argument ${issue.keys.join(', ')}. Arguments: ${known}.`
        : undefined,
  });
  return { ...definition, input } as unknown as Tool;
}

export const text = (value: string): TextPart => ({ type: 'text', text: value });
export const json = (value: unknown): string => JSON.stringify(value);

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
