/** A Node process with one timer: the floor of any idle Node service. */
import process from 'node:process';

setInterval(() => undefined, 60_000);
process.stdout.write('ready\n');
