/** Clients of event streams that are not ours: how each is started, and the lines that it prints. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { launchBrowser, skipBrowser } from '../../browser/browser.ts';
import { type Certificate, KEY_STORE_PASSWORD } from './certificate.ts';

export interface Arrival {
  /** Unix time. */
  readonly atMs: number;
  readonly payload: string;
}

export type OnArrival = (arrival: Arrival) => void;
type Stop = () => void | Promise<void>;

export interface ForeignClient {
  readonly name: string;
  /** Reads `url`, trusting `certificate` where that is HTTPS, and reports each event, until it is stopped. */
  readonly start: (url: string, certificate: Certificate, onArrival: OnArrival) => Stop | Promise<Stop>;
}

const PYTHON = '/usr/bin/python3';
const NEEDED = [
  [PYTHON, '-c', 'import requests, httpx, aiohttp'],
  ['javac', '-version'],
  ['keytool', '-help'],
  ['go', 'version'],
  ['curl', '--version'],
] as const;

/** Why the clients cannot run here; false where they can. */
export function whyMissing(): string | false {
  const missing = NEEDED.filter(([command, ...args]) => spawnSync(command, args).status !== 0);
  return missing.length > 0 ? `missing: ${missing.map((words) => words.join(' ')).join(', ')}` : skipBrowser;
}

const FOLDER = path.resolve(import.meta.dirname, '../../../../../test/prove/sse-clients');
const fileOf = (name: string) => path.join(FOLDER, name);

/** Must not outlive this process. */
const children: ChildProcess[] = [];
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** `line`: time and payload, separated by a space. */
function parseArrival(line: string): Arrival {
  const space = line.indexOf(' ');
  return { atMs: Number(line.slice(0, space)), payload: line.slice(space + 1) };
}

function linesOf(child: ChildProcess, onLine: (line: string) => void): Stop {
  if (child.stdout === null) throw new Error('a client without a pipe for its output');
  createInterface({ input: child.stdout }).on('line', onLine);
  children.push(child);
  return () => void child.kill();
}

function startProgram(
  command: string,
  args: readonly string[],
  { env }: Certificate,
  onLine: (line: string) => void,
): Stop {
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env, NODE_NO_WARNINGS: '1' },
  });
  return linesOf(child, onLine);
}

/** A program that prints arrivals itself. */
const program =
  (command: string, ...args: readonly string[]): ForeignClient['start'] =>
  (url, certificate, onArrival) =>
    startProgram(command, [...args, url], certificate, (line) => onArrival(parseArrival(line)));

const python = (library: string) => program(PYTHON, fileOf('client.py'), library);

/** curl prints the stream itself: an event has arrived when its blank line has. */
const startCurl: ForeignClient['start'] = (url, certificate, onArrival) => {
  let payload: string | undefined;
  return startProgram('curl', ['-sN', url], certificate, (line) => {
    if (line.startsWith('data: ')) payload = line.slice('data: '.length);
    if (line !== '' || payload === undefined) return;
    onArrival({ atMs: Date.now(), payload });
    payload = undefined;
  });
};

const startJava: ForeignClient['start'] = (url, certificate, onArrival) => {
  const store = `-Djavax.net.ssl.trustStore=${certificate.keyStore}`;
  const password = `-Djavax.net.ssl.trustStorePassword=${KEY_STORE_PASSWORD}`;
  return program('java', store, password, fileOf('Client.java'))(url, certificate, onArrival);
};

const startGo: ForeignClient['start'] = (url, certificate, onArrival) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'hostwire-go-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const built = path.join(folder, 'client');
  const env = { ...process.env, GO111MODULE: 'off', CGO_ENABLED: '0', GOCACHE: path.join(folder, 'cache') };
  const { status, stderr } = spawnSync('go', ['build', '-o', built, fileOf('client.go')], { env });
  if (status !== 0) throw new Error(`go build: ${stderr}`);
  return program(built)(url, certificate, onArrival);
};

/** A page of the service itself, so that its rules for foreign pages do not apply. */
const startChromium: ForeignClient['start'] = async (url, { pin }, onArrival) => {
  const browser = await launchBrowser(`--ignore-certificate-errors-spki-list=${pin}`);
  const page = await browser.newPage();
  page.on('console', (message) => onArrival(parseArrival(message.text())));
  await page.goto(new URL('/api/status', url).href);
  await page.evaluate((target) => {
    new EventSource(target).onmessage = ({ data }) => console.log(`${Date.now()} ${data}`);
  }, url);
  return () => browser.close();
};

export const CLIENTS: readonly ForeignClient[] = [
  { name: 'sseclient', start: python('sseclient') },
  { name: 'sseclient-py', start: python('sseclient_py') },
  { name: 'urllib3', start: python('urllib3') },
  { name: 'requests', start: python('requests_content') },
  { name: 'requests, lines', start: python('requests_lines') },
  { name: 'httpx', start: python('httpx') },
  { name: 'aiohttp', start: python('aiohttp') },
  { name: 'curl', start: startCurl },
  { name: 'Java', start: startJava },
  { name: 'Go', start: startGo },
  {
    name: 'Node',
    start: program(process.execPath, '--experimental-eventsource', fileOf('eventsource.mjs')),
  },
  { name: 'Chromium', start: startChromium },
];
