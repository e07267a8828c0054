// Runs the scenarios in one language or in all: node sdk/scenarios/run.ts [typescript|python|go …]
import { LANGUAGES, type Language } from './languages.ts';
import { openWorld } from './world.ts';

const chosen = process.argv.slice(2) as Language[];
const world = await openWorld();
let failed = 0;
try {
  for (const language of chosen.length > 0 ? chosen : (Object.keys(LANGUAGES) as Language[])) {
    const [command, args, environment] = LANGUAGES[language];
    const verdicts = await world.run(command, args, environment);
    const wrong = verdicts.filter(({ ok }) => !ok);
    failed += wrong.length;
    process.stdout.write(`${language}: ${verdicts.length - wrong.length} of ${verdicts.length}\n`);
    for (const { name, message } of wrong) process.stdout.write(`  ${name}: ${message}\n`);
  }
} finally {
  await world.close();
}
process.exitCode = failed === 0 ? 0 : 1;
