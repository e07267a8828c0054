import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files whose tests take minutes. Begun last, they would keep the run waiting with one worker at work. */
const LONGEST = ['test/fleet/nemesis.test.ts', 'test/fleet/deaths.test.ts', 'test/fleet/half-open.test.ts'];

/** The order of the test files: the longest first, then as vitest has it. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONGEST.findIndex((path) => moduleId.endsWith(path));
      return at < 0 ? LONGEST.length : at;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}
