import { isRecord } from './answer-schema.ts';
import type { Answered } from './keep-fitting.ts';

const THOUGHTS = /^\s*<think>[\s\S]*?<\/think>/i;
const FENCE = '```';

/**
 * What a model answered; null when it is not what was asked for. Models that are only told the shape put thoughts before
 * it or a fence around it, and some leave the outer object out.
 */
export function readModelAnswer(content: string, names: readonly string[]): Answered | null {
  const told = content.replace(THOUGHTS, '').trim();
  const value =
    parsed(withoutFence(told)) ?? parsed(told.slice(told.indexOf('{'), told.lastIndexOf('}') + 1));
  if (!isRecord(value)) return null;
  if (isRecord(value.values)) {
    return { values: value.values, evidence: isRecord(value.evidence) ? value.evidence : {} };
  }
  return names.some((name) => Object.hasOwn(value, name)) ? { values: value, evidence: {} } : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function withoutFence(text: string): string {
  if (!text.startsWith(FENCE)) return text;
  const start = text.indexOf('\n');
  const end = text.lastIndexOf(FENCE);
  return end > start ? text.slice(start + 1, end) : text;
}
