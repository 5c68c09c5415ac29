/** The configuration in effect, for everything that must notice a reload. */
import type { Config } from './config.ts';

/** Read `current` at each use: a reload replaces the whole object. */
export interface CurrentConfig {
  readonly current: Config;
}
