/** A browser that is driven over its own WebSocket: Chromium's DevTools and WebDriver BiDi both number their calls so. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { WebSocket } from 'ws';

export type Values = Readonly<Record<string, unknown>>;

const START_LIMIT_MS = 30_000;
const CALL_LIMIT_MS = 10_000;

interface Waiting {
  readonly resolve: (result: Values) => void;
  readonly reject: (error: Error) => void;
}

export class Remote {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, Waiting>();
  #calls = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data) => this.#receive(String(data)));
    socket.on('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the browser has gone'));
      this.#waiting.clear();
    });
  }

  static async connect(url: string): Promise<Remote> {
    const socket = new WebSocket(url, { perMessageDeflate: false });
    await new Promise((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    return new Remote(socket);
  }

  /** Returns the browser's answer to `method`. Rejects with the browser's error, or after ten seconds. */
  call(method: string, params: Values = {}, more: Values = {}): Promise<Values> {
    const id = ++this.#calls;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new Error(`${method}: no answer in ${CALL_LIMIT_MS} ms`));
      }, CALL_LIMIT_MS);
      this.#waiting.set(id, {
        resolve(result) {
          clearTimeout(timer);
          resolve(result);
        },
        reject(error) {
          clearTimeout(timer);
          reject(new Error(`${method}: ${error.message}`));
        },
      });
      this.#socket.send(JSON.stringify({ id, method, params, ...more }));
    });
  }

  close(): void {
    this.#socket.close();
  }

  #receive(text: string): void {
    // In both protocols an answer has the number of its call, and an event has none.
    const { id, result, error, message } = JSON.parse(text) as {
      readonly id?: number;
      readonly result?: Values;
      readonly error?: unknown;
      readonly message?: string;
    };
    const waiting = id === undefined ? undefined : this.#waiting.get(id);
    if (id === undefined || waiting === undefined) return;
    this.#waiting.delete(id);
    if (error === undefined) waiting.resolve(result ?? {});
    else waiting.reject(new Error(message ?? JSON.stringify(error)));
  }
}

export interface StartedBrowser {
  readonly remote: Remote;
  /** Ends the browser and removes its profile. */
  readonly stop: () => Promise<void>;
}

/**
 * Starts `command` with a profile folder of its own and connects to the WebSocket that it names on standard error
 * (`pattern`, completed by `suffix`).
 */
export async function startBrowser(
  command: string,
  argumentsFor: (profile: string) => readonly string[],
  pattern: RegExp,
  suffix = '',
): Promise<StartedBrowser> {
  const profile = mkdtempSync(path.join(os.tmpdir(), 'hostwire-browser-'));
  const child = spawn(command, argumentsFor(profile), {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, HOME: profile, XDG_RUNTIME_DIR: profile },
    // A group of its own: a browser is many processes, and all of them are ours to end.
    detached: true,
  });
  const end = () => killGroup(child);
  process.once('exit', end);
  const url = await addressOf(child, pattern).catch((error: unknown) => {
    end();
    throw error;
  });
  const remote = await Remote.connect(`${url}${suffix}`);
  return {
    remote,
    async stop() {
      remote.close();
      const ended = new Promise((resolve) => child.once('exit', resolve));
      end();
      await ended;
      process.off('exit', end);
      rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It has already exited.
  }
}

function addressOf(child: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const timer = setTimeout(() => reject(new Error(`no browser: ${text}`)), START_LIMIT_MS);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the browser ended with ${code}: ${text}`)));
    child.stderr?.setEncoding('utf8').on('data', (part: string) => {
      if (text.length < 10_000) text += part;
      const found = pattern.exec(text)?.[1];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    });
  });
}
