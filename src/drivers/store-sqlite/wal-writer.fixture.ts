import { openSqliteDatabase } from './database.ts';

/** A process that commits rows to the database that it is given, and says how many, until it is killed. */
const database = openSqliteDatabase(process.argv[2] ?? '');
database.exec('CREATE TABLE IF NOT EXISTS a (n INTEGER PRIMARY KEY, x TEXT)');
for (;;) {
  database.exec('BEGIN IMMEDIATE');
  for (let row = 0; row < 50; row += 1) database.run('INSERT INTO a (x) VALUES (hex(randomblob(900)))');
  database.exec('COMMIT');
  process.stdout.write(`${database.get('SELECT count(*) AS n FROM a')?.n}\n`);
}
