import { fileURLToPath } from 'node:url';
import { runChild } from '../child-run.ts';
import { figure } from '../report.ts';
import type { StoreRates } from './frontier.ts';
import type { SimulationAnswer } from './partition-simulation.ts';
import type { Section } from './section.ts';

const SCRIPT = fileURLToPath(new URL('./partition-simulation.ts', import.meta.url));

/** More hosts than one PostgreSQL can serve, spread over several by the hash of their names. */
export async function simulatePartitions({ completionsPerSecond }: StoreRates): Promise<Section> {
  const args = [SCRIPT, '--completions-per-second', String(completionsPerSecond)];
  const { answer } = await runChild(process.execPath, args);
  const { tables, assumptions } = answer as unknown as SimulationAnswer;
  const { hosts = 0, urls = 0, exponent = 0, mostPerHost = 0, hostRate = 0 } = assumptions;
  return {
    tables,
    bars: [],
    notes: [
      `The last two tables are simulated: ${figure(hosts)} hosts with ${figure(urls)} URLs, sizes by Zipf (exponent ${exponent}, at most ${figure(mostPerHost)} each), all ready at once, ${hostRate} pages a second and host at most, and in every store the ${figure(completionsPerSecond)} completions a second measured above.`,
    ],
    data: assumptions,
  };
}
