import { nearestName } from '../../core/config/nearest-name.ts';
import { type FieldProblem, invalidRequest } from '../jobs/invalid-request.ts';

/** The problems of a request, each under the field that has it. */
export class QueryProblems {
  readonly #problems: FieldProblem[] = [];

  add(field: string, message: string): void {
    this.#problems.push({ field, message });
  }

  /** Throws VALIDATION_FAILED when there are any. */
  refuse(): void {
    if (this.#problems.length > 0) throw invalidRequest(this.#problems);
  }
}

/** The known name that was probably meant, as the end of a sentence; empty when none is near. */
export function suggestion(given: string, known: Iterable<string>): string {
  const near = nearestName(given.slice(0, 100), known);
  return near === null ? '' : `; did you mean "${near}"?`;
}

export const shortened = (text: string) => (text.length > 60 ? `${text.slice(0, 60)}…` : text);
