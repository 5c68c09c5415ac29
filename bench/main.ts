/** `npm run bench -- NAME…`: runs benches by name. */
import process from 'node:process';

/** Each bench is the module of its name and exports `run`. */
const BENCHES: ReadonlyMap<string, string> = new Map([
  ['sample', 'CPU time of one sample, compared with a C loop that reads the same files'],
  ['idle', 'cost of the service without subscribers, and time of its start'],
  ['processes', 'CPU time of reading 10,000 processes, compared with a C loop'],
  ['metrics', 'CPU time of a scrape of /metrics, compared with bare reads and with node_exporter'],
  ['fanout', 'CPU time and memory of many event streams, compared with a C loop'],
  ['keys', 'CPU time of a request and memory with 100 keys, compared with one key'],
  ['sockets', 'CPU time and memory of many WebSockets, compared with a C loop'],
]);

interface Bench {
  run(): Promise<void>;
}

async function load(name: string): Promise<Bench> {
  try {
    // Every module named in the table has this shape.
    return (await import(new URL(`./${name}.js`, import.meta.url).href)) as Bench;
  } catch (error) {
    const isAbsent = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
    throw isAbsent ? new Error(`the bench "${name}" is not built: ${error.message}`) : error;
  }
}

// A bench reads its own options (`--quick`, `--subscribers 6000`, `--beside FOLDER`).
const WITH_VALUE = ['--subscribers', '--beside'];
const words = process.argv.slice(2);
const names = words.filter((word, at) => !word.startsWith('--') && !WITH_VALUE.includes(words[at - 1] ?? ''));
const unknown = names.filter((name) => !BENCHES.has(name));
if (names.length === 0 || unknown.length > 0) {
  for (const name of unknown) process.stderr.write(`unknown bench "${name}"\n`);
  for (const [name, purpose] of BENCHES) process.stderr.write(`${name.padEnd(11)} ${purpose}\n`);
  process.exitCode = 1;
} else {
  for (const name of names) await (await load(name)).run();
}
