/** Dials a hub and reports to it: follows the configuration, the players, power and the sleep of the machine. */
import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../../config/config.ts';
import { MachineEvents } from '../../exporters/mqtt/machine-events.ts';
import { Link } from '../../mqtt/link.ts';
import { ALL_SCOPES } from '../../scopes.ts';
import { peerTargetOf } from '../../socket/web-socket.ts';
import { topicsBelow } from '../protocol/hub-topics.ts';
import { DialConnection } from '../transports/websocket/dial-connection.ts';
import { HubSession, type HubSessionDeps, type ReporterDeps, type Transport } from './hub-session.ts';

const settingsOf = ({ hub: { url, key_file: keyFile, pin } }: Config) => ({ url, keyFile, pin });

/** The transport to a hub that is dialled. */
function overDial(url: string, key: string, pin: string | undefined, deps: HubSessionDeps): Transport {
  const target = peerTargetOf(url, pin);
  const { id, clock, log } = deps;
  // The name of its entry at the hub.
  log.info(`hub: this machine dials ${target.name} as ${id}`);
  return {
    subject: 'hub',
    topics: topicsBelow(''),
    // The hub has proved itself, and names its clients.
    peer: { address: `${target.host}:${target.port}`, isKeyed: false, scopes: ALL_SCOPES },
    open: (options, run) =>
      new Link(
        {
          subject: 'hub',
          name: target.name,
          connect: (events) => new DialConnection({ ...events, target, key, id, run, clock }),
        },
        options,
      ),
  };
}

export class DialExporter {
  readonly #deps: ReporterDeps;
  readonly #events: MachineEvents<HubSession>;
  #session: HubSession | undefined;
  #settings: ReturnType<typeof settingsOf> | undefined;
  /** The end of the session before this one: the hub takes one connection per id. */
  #ending: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(deps: ReporterDeps) {
    this.#deps = deps;
    this.#events = new MachineEvents(deps);
    this.reconfigure();
  }

  /** Another hub or another key is another session. */
  reconfigure(): void {
    const settings = settingsOf(this.#deps.config.current);
    if (isDeepStrictEqual(settings, this.#settings)) {
      this.#session?.reconfigure();
      return;
    }
    this.#settings = settings;
    this.#ending = this.#ending.then(() => this.#replace(settings));
  }

  /** Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#events.close();
    await Promise.all([this.#ending, this.#session?.close()]);
  }

  async #replace(settings: ReturnType<typeof settingsOf>): Promise<void> {
    await this.#session?.close();
    this.#session = undefined;
    this.#events.sessions.clear();
    const { url, keyFile, pin } = settings;
    if (this.#isClosed || settings !== this.#settings || url === undefined || keyFile === undefined) return;
    const transport = overDial(url, keyFile.secret, pin, this.#deps);
    this.#session = new HubSession(this.#deps, transport, this.#deps.inhibitor);
    this.#events.add(this.#session);
  }
}
