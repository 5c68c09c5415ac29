/** The engine on Node's own HTTP server. Not built yet. */
import type { Engine, EngineOptions } from '../engine.ts';

export class NodeEngine implements Engine {
  readonly connections = 0;
  readonly pending = 0;
  maxConnections = Number.POSITIVE_INFINITY;

  constructor(_options: EngineOptions) {
    throw new Error("Node's own engine is not built yet");
  }

  async listen(): Promise<number> {
    return 0;
  }

  stopListening(): void {}
  close(): void {}
  publish(): void {}
}
