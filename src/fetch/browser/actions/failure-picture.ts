import type { Page } from 'patchright-core';
import type { Picture } from '../../../core/model/render.ts';
import { type Deadline, orAborted, settlesWithin } from '../../deadline.ts';
import { takePicture } from './render-actions.ts';

/** No picture is tried when less time is left than the second. */
const MOST_MS = 3_000;
const LEAST_MS = 100;

/**
 * The page at the moment when a step failed. Null when the picture cannot be had in time: the error of the step matters
 * more, and the document is still to be read.
 */
export async function takeFailurePicture(
  page: Page,
  deadline: Pick<Deadline, 'remainingMs'>,
  signal: AbortSignal,
): Promise<Picture | null> {
  const limitMs = Math.min(MOST_MS, deadline.remainingMs / 2);
  if (limitMs < LEAST_MS) return null;
  let picture: Picture | null = null;
  const taken = takePicture(page, {}, limitMs).then((made) => {
    picture = made;
  });
  taken.catch(() => {});
  await orAborted(settlesWithin(taken, limitMs), signal).catch(() => false);
  return picture;
}
