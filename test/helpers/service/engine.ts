/**
 * The HTTP engine that a test runs on: HOSTWIRE_TEST_ENGINE, which scripts/test.mjs sets for its second pass. The program
 * itself knows nothing of that variable.
 */
import process from 'node:process';
import { type EngineName, loadEngine } from '#src/engines.js';
import type { Engine, EngineOptions } from '#src/http/engine.js';

export const TEST_ENGINE: EngineName = process.env['HOSTWIRE_TEST_ENGINE'] === 'node' ? 'node' : 'uws';

export const isNodeEngine = TEST_ENGINE === 'node';

/** The engine's part of a configuration file below `server`. */
export const ENGINE_PART: { readonly engine?: EngineName } = isNodeEngine ? { engine: 'node' } : {};

// uWebSockets.js reads this when it is loaded; main sets it too.
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= '16384';

/** Rejects where it cannot be loaded: a test never runs on another engine than it says. */
export const loadTestEngine = () => loadEngine(TEST_ENGINE);

export async function createEngine(options: EngineOptions): Promise<Engine> {
  return (await loadTestEngine()).create(options);
}
