/** A fake player on a private bus, under the control of a test. */
import { DbusPeer, type Message } from './peer.ts';
import { type Variant, variant } from './wire.ts';

export const PLAYER_INTERFACE = 'org.mpris.MediaPlayer2.Player';
export const PLAYER_PATH = '/org/mpris/MediaPlayer2';
const PROPERTIES = 'org.freedesktop.DBus.Properties';

export type Properties = Readonly<Record<string, Variant>>;

/** `Metadata` of a track; each entry is a variant. */
export const metadata = (entries: Properties): Variant => variant('a{sv}', Object.entries(entries));

export const track = (title: string, more: Properties = {}): Variant =>
  metadata({
    'mpris:trackid': variant('o', `/track/${Buffer.from(title).toString('hex').slice(0, 40) || 'none'}`),
    'xesam:title': variant('s', title),
    ...more,
  });

export class FakePlayer {
  readonly peer: DbusPeer;
  properties: Properties;
  /** Calls of the player's methods, with their time of arrival. */
  readonly calls: { readonly member: string; readonly body: readonly unknown[]; readonly atMs: number }[] =
    [];
  /** Whether Set changes the property. */
  takesSet = true;
  /** Replaces the usual answer to every call. */
  answer: ((message: Message) => void) | undefined;

  private constructor(peer: DbusPeer, properties: Properties) {
    this.peer = peer;
    this.properties = properties;
    peer.onMessage = (message) => this.#receive(message);
  }

  /** `name`: the part after `org.mpris.MediaPlayer2.`. `uid`: its user, if the test is root's. */
  static async start(
    address: string,
    name: string,
    properties: Properties = {},
    uid?: number,
  ): Promise<FakePlayer> {
    const player = new FakePlayer(await DbusPeer.open(address, uid), properties);
    await player.peer.requestName(`org.mpris.MediaPlayer2.${name}`);
    return player;
  }

  /** Changes properties and sends PropertiesChanged; for `invalidated` ones the signal carries only the name. */
  change(properties: Properties, invalidated: readonly string[] = []): void {
    this.properties = { ...this.properties, ...properties };
    this.peer.send({
      type: 'signal',
      path: PLAYER_PATH,
      interface: PROPERTIES,
      member: 'PropertiesChanged',
      signature: 'sa{sv}as',
      body: [PLAYER_INTERFACE, Object.entries(properties), invalidated],
    });
  }

  seeked(positionUs: number): void {
    this.properties = { ...this.properties, Position: variant('x', positionUs) };
    this.peer.send({
      type: 'signal',
      path: PLAYER_PATH,
      interface: PLAYER_INTERFACE,
      member: 'Seeked',
      signature: 'x',
      body: [positionUs],
    });
  }

  close(): void {
    this.peer.close();
  }

  /** Sends the usual answer. */
  respond(message: Message): void {
    if (message.interface === PLAYER_INTERFACE) {
      this.peer.reply(message);
      return;
    }
    if (message.interface !== PROPERTIES) {
      this.peer.fail(message, 'org.freedesktop.DBus.Error.UnknownMethod', 'none of mine');
      return;
    }
    if (message.member === 'GetAll') this.peer.reply(message, 'a{sv}', [Object.entries(this.properties)]);
    else if (message.member === 'Set') {
      if (this.takesSet) this.change({ [String(message.body[1])]: message.body[2] as Variant });
      this.peer.reply(message);
    } else {
      const value = this.properties[String(message.body[1])];
      if (value === undefined) this.peer.fail(message, 'org.freedesktop.DBus.Error.UnknownProperty', 'none');
      else this.peer.reply(message, 'v', [value]);
    }
  }

  #receive(message: Message): void {
    if (message.type !== 'call') return;
    const isAct = message.interface === PLAYER_INTERFACE || message.member === 'Set';
    if (isAct) this.calls.push({ member: message.member, body: message.body, atMs: performance.now() });
    if (this.answer === undefined) this.respond(message);
    else this.answer(message);
  }
}
