/**
 * Viewers of one hub as a program of its own, so that they are not measured with it:
 *   viewers PORT COUNT HOSTS    each of a random one of the machines h0, h1, …
 * Prints `ready` when each has had a sample. A line `measure` on its standard input begins the delays and counts, `report`
 * prints what was seen since then as JSON (`Seen`); it ends with its standard input.
 */
import net from 'node:net';
import process from 'node:process';
import readline from 'node:readline';
import { now } from './machine.ts';

/** Since `measure`; what is doubled, late or ended counts from the first sample of each viewer on. */
export interface Seen {
  readonly events: number;
  readonly lost: number;
  /** Events that viewers missed between their first sample and `measure`, while others were opened. */
  readonly lostBefore: number;
  readonly doubled: number;
  readonly disordered: number;
  readonly ended: number;
  readonly maxMs: number;
  /** How many delays were within each tenth of a millisecond, without those of which there was none. */
  readonly delays: readonly (readonly [tenths: number, events: number])[];
}

const SHARED = Buffer.alloc(256 * 1024);
const SAMPLE = /"number":(\d+),"sent":([\d.]+)/g;
/** 20 s: later ones count in the last. */
const delays = new Uint32Array(200_000);
const seen = { events: 0, lost: 0, lostBefore: 0, doubled: 0, disordered: 0, ended: 0, maxMs: 0 };
let opened = 0;
let isMeasured = false;

const [port = 0, count = 0, hosts = 1] = process.argv.slice(2).map(Number);

class Viewer {
  readonly #host: number;
  #last = 0;

  constructor(host: number) {
    this.#host = host;
    this.#open();
  }

  #open(): void {
    const callback = (length: number) => {
      const at = now();
      // An event is far smaller than the buffer, and arrives in one piece.
      for (const [, number, sent] of SHARED.toString('latin1', 0, length).matchAll(SAMPLE))
        this.#take(Number(number), at - Number(sent));
      return true;
    };
    const socket = net.connect({ port, host: '127.0.0.1', onread: { buffer: SHARED, callback } });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (this.#last > 0) seen.ended++;
      // Refused: the first samples of a thousand agents take their time.
      else setTimeout(() => this.#open(), 500);
    });
    socket.write(`GET /api/hosts/h${this.#host}/stream HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  }

  #take(number: number, delayMs: number): void {
    const last = this.#last;
    this.#last = Math.max(last, number);
    if (last === 0) {
      if (++opened === count) console.log('ready');
      return;
    }
    if (number === last) seen.doubled++;
    else if (number < last) seen.disordered++;
    else seen[isMeasured ? 'lost' : 'lostBefore'] += number - last - 1;
    if (!isMeasured) return;
    seen.events++;
    seen.maxMs = Math.max(seen.maxMs, delayMs);
    const tenths = Math.min(Math.max(0, Math.floor(delayMs * 10)), delays.length - 1);
    delays[tenths] = (delays[tenths] ?? 0) + 1;
  }
}

function report(): Seen {
  const found: (readonly [number, number])[] = [];
  for (const [tenths, events] of delays.entries()) if (events > 0) found.push([tenths, events]);
  return { ...seen, delays: found };
}

for (let i = 0; i < count; i++) setTimeout(() => new Viewer(Math.floor(Math.random() * hosts)), i);
readline
  .createInterface(process.stdin)
  .on('line', (line) => {
    if (line === 'measure') isMeasured = true;
    else console.log(JSON.stringify(report()));
  })
  .on('close', () => process.exit(0));
