/** Dials the hubs of `hub.url`, and follows the configuration and the sleep of the machine. */
import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { isSleep, type Power } from '../commands/power.ts';
import type { Config } from '../config/config.ts';
import type { CurrentConfig } from '../config/current.ts';
import { urlsOf } from '../config/rows/hub-rows.ts';
import { scopesOf } from '../scopes.ts';
import { DialledHub, type DialledHubDeps, type DialledHubSettings } from './dialled-hub.ts';

export interface HubDialsDeps extends Omit<DialledHubDeps, 'run' | 'random'> {
  readonly config: CurrentConfig;
  readonly power: Pick<Power, 'onPlan'>;
  /** For tests. */
  readonly random?: () => number;
}

/** Empty without a key: the configuration is wrong then. */
function settingsIn({ hub }: Config): readonly DialledHubSettings[] {
  const { key_file: keyFile, pin, scopes, plain_networks: plain } = hub;
  if (keyFile === undefined) return [];
  return urlsOf(hub.url).map((url) => ({
    url,
    key: keyFile.secret,
    pin,
    scopes: scopesOf([...scopes, 'hub']),
    plainNetworks: plain.rules,
  }));
}

export class HubDials {
  readonly #deps: HubDialsDeps;
  readonly #run = randomBytes(8).toString('hex');
  readonly #unlisten: () => void;
  #settings: readonly DialledHubSettings[] = [];
  #hubs: readonly DialledHub[] = [];
  #isAsleep = false;

  constructor(deps: HubDialsDeps) {
    this.#deps = deps;
    this.#unlisten = deps.power.onPlan((plan) => {
      // The sessions say before a sleep that it comes; the connections stay until the machine is awake.
      if (plan === undefined && this.#isAsleep) for (const hub of this.#hubs) hub.wake();
      this.#isAsleep = isSleep(plan);
    });
    this.reconfigure();
  }

  /** Other settings are other connections. */
  reconfigure(): void {
    const settings = settingsIn(this.#deps.config.current);
    if (isDeepStrictEqual(settings, this.#settings)) return;
    this.#settings = settings;
    for (const hub of this.#hubs) hub.close();
    const { random = Math.random } = this.#deps;
    this.#hubs = settings.map((each) => new DialledHub({ ...this.#deps, run: this.#run, random }, each));
  }

  async close(): Promise<void> {
    this.#unlisten();
    for (const hub of this.#hubs) hub.close();
    this.#hubs = [];
  }
}
