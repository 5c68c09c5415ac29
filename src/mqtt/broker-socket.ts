/** Where the broker is and how it is spoken to, as the configuration has it; and its socket. */
import net from 'node:net';
import tls from 'node:tls';
import type { Config } from '../config/config.ts';
import { lookUpWhile } from '../name-lookup.ts';
import { fromUrl } from '../url-host.ts';

/** 3.1.1 and 5. */
export type ProtocolVersion = 4 | 5;

export interface Broker {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  /** `mqtts://broker.lan:8883`, for the log. It has no credentials. */
  readonly name: string;
  readonly clientId: string;
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** Authorities in PEM form; undefined: those that Node knows. */
  readonly ca: string | undefined;
}

/** Keys of the configuration: of `mqtt`, or of an entry of `hub.brokers`. */
export type BrokerKeys = Partial<Pick<Config['mqtt'], 'username' | 'password_file' | 'ca' | 'client_id'>>;

const PORTS = { 'mqtt:': 1883, 'mqtts:': 8883 };

/** `url`: as the configuration accepts it. */
export function brokerOf(url: string, mqtt: BrokerKeys, id: string): Broker {
  const { protocol, hostname, port: given } = new URL(url);
  const isSecure = protocol === 'mqtts:';
  const port = given === '' ? PORTS[isSecure ? 'mqtts:' : 'mqtt:'] : Number(given);
  return {
    host: fromUrl(hostname),
    port,
    isSecure,
    name: `${protocol}//${hostname}:${port}`,
    clientId: mqtt.client_id ?? `hostwire-${id}`,
    username: mqtt.username,
    password: mqtt.password_file?.secret,
    ca: mqtt.ca?.pem,
  };
}

/** The address to connect to, with its TLS settings. */
export interface Endpoint extends Pick<Broker, 'host' | 'port' | 'isSecure' | 'ca'> {
  /** The caller compares its key with a pin, before it sends anything. */
  readonly isPinned?: boolean;
  /** The socket is one of thousands: all of these read into one buffer. */
  readonly isOneOfMany?: boolean;
}

/** Node makes a buffer of 64 KiB for each read otherwise, whatever it brings: V8 then collects its garbage all the time. */
const SHARED = Buffer.allocUnsafeSlow(64 * 1024);
const ONREAD = {
  buffer: SHARED,
  /** Node calls it as a method of the socket. */
  callback(this: net.Socket, count: number): boolean {
    // A copy of its own, as the stream would emit it.
    if (!this.destroyed) this.emit('data', Buffer.from(SHARED.subarray(0, count)));
    return !this.isPaused();
  },
};

/** Time from the address of the peer to a connection: a SYN is sent immediately, after 1 s and after 3 s. */
const REACH_LIMIT_MS = 4000;

/** One whose machine does not answer is given up sooner than one that is busy. */
function limitReach(socket: net.Socket, host: string): net.Socket {
  let timer: NodeJS.Timeout | undefined;
  const begin = () => {
    timer ??= setTimeout(() => socket.destroy(new Error('no answer in time')), REACH_LIMIT_MS).unref();
  };
  // A connection that lasts keeps nothing of it: a hub has thousands.
  const stop = () => {
    clearTimeout(timer);
    timer = undefined;
    socket.off('lookup', begin).off('connect', stop).off('close', stop);
  };
  // Not while a name server is waited for.
  if (net.isIP(host) === 0) socket.once('lookup', begin);
  else begin();
  return socket.once('connect', stop).once('close', stop);
}

/** Connects; the certificate of the other side is always checked, with its name, unless its key is. */
export function openSocket({
  host,
  port,
  isSecure,
  ca,
  isPinned = false,
  isOneOfMany = false,
}: Endpoint): net.Socket {
  const isWanted = () => !socket.destroyed;
  const address = { host, port, lookup: lookUpWhile(isWanted), ...(isOneOfMany && { onread: ONREAD }) };
  const servername = net.isIP(host) === 0 ? { servername: host } : {};
  const options = {
    ...address,
    ...servername,
    ...(ca !== undefined && { ca }),
    minVersion: 'TLSv1.2',
    rejectUnauthorized: !isPinned,
  } as const;
  const socket: net.Socket = isSecure ? tls.connect(options) : net.connect({ ...address, noDelay: true });
  return limitReach(socket, host);
}
