/** The configuration in effect, which a test changes as a reload does. */

import { type Config, DEFAULT_CONFIG } from '#src/config/config.js';
import type { CurrentConfig } from '#src/config/current.js';

export class FakeConfig implements CurrentConfig {
  current: Config = DEFAULT_CONFIG;

  constructor(features: Config['features'] = DEFAULT_CONFIG.features) {
    this.features = features;
  }

  get features(): Config['features'] {
    return this.current.features;
  }

  set features(features: Config['features']) {
    this.current = { ...this.current, features };
  }

  set apps(launch: Config['processes']['launch']) {
    this.current = { ...this.current, processes: { launch } };
  }

  set wakeable(hosts: Config['wake']['hosts']) {
    this.current = { ...this.current, wake: { hosts } };
  }
}
