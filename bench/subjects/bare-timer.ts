/** A Node that stays alive for a timer and does nothing: what any Node service costs while idle. */
import process from 'node:process';

setInterval(() => undefined, 60_000);
process.stdout.write('ready\n');
