/** Chooses the HTTP engine and loads it; the other one is loaded for HTTPS alone. */
import os from 'node:os';
import { messageOf } from './errors.ts';
import { TEXTS } from './fairness/limits.ts';
import type { Engine, EngineOptions } from './http/engine.ts';
import { TwoEngines } from './http/two-engines.ts';

export type EngineName = 'uws' | 'node';

export interface EngineChoice {
  readonly name: EngineName;
  /** Its name for people. */
  readonly title: string;
  readonly why: string;
  readonly create: (options: EngineOptions) => Engine;
}

/** The engine that was asked for cannot be loaded. */
export class EngineError extends Error {
  constructor(reason: string) {
    super(
      `server.engine is uws, but uWebSockets.js cannot be loaded here (${reason}): set server.engine to auto or node, ` +
        'use Node 22 or 20 on a glibc system, or install an uWebSockets.js that has a binary for this Node',
    );
    this.name = 'EngineError';
  }
}

/** The first line of an error's message. */
function reasonOf(error: unknown): string {
  const [line = ''] = messageOf(error).split('\n');
  return line.length > TEXTS.reason ? `${line.slice(0, TEXTS.reason)}…` : line;
}

/** HTTPS is Node's, which is loaded where a certificate is configured. Its connections are counted with the others. */
async function loadUws(why: string): Promise<EngineChoice> {
  const { UwsEngine } = await import('./http/uws/server.ts');
  return {
    name: 'uws',
    title: 'uWebSockets.js',
    why,
    create: (options) =>
      new TwoEngines(new UwsEngine(options), async () => {
        const { create } = await loadNode(why);
        return create({ ...options, countAdopted: () => 0 });
      }),
  };
}

async function loadNode(why: string): Promise<EngineChoice> {
  const { NodeEngine } = await import('./http/node/server.ts');
  return { name: 'node', title: "Node's own", why, create: (options) => new NodeEngine(options) };
}

/**
 * `auto` is uWebSockets.js on Linux, where the native writer sends its streams, if its binary loads. That is found out by
 * loading it: another uWebSockets.js than the one that this package depends on may have been installed, with binaries for
 * other versions of Node. Rejects with EngineError.
 */
export async function loadEngine(
  wanted: EngineName | 'auto',
  platform = os.platform(),
): Promise<EngineChoice> {
  if (wanted === 'node') return await loadNode('server.engine is node');
  if (wanted === 'auto' && platform !== 'linux') return await loadNode(`it is the default on ${platform}`);
  try {
    return await loadUws(wanted === 'uws' ? 'server.engine is uws' : 'its binary loads here');
  } catch (error) {
    if (wanted === 'uws') throw new EngineError(reasonOf(error));
    return await loadNode(`uWebSockets.js cannot be loaded here: ${reasonOf(error)}`);
  }
}

/** One line for the log, and for `--version`. */
export const describeEngine = ({ title, why }: EngineChoice): string => `HTTP engine: ${title} (${why})`;
