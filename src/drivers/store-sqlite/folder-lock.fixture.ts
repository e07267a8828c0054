import { lockFolder } from './folder-lock.ts';

/** A process that locks the folder it is given, says so, and holds it until it is killed. */
lockFolder(process.argv[2] ?? '');
process.stdout.write('locked\n');
setInterval(() => {}, 60_000);
