/** The WebSockets of Node's engine, with the library `ws`: upgrades, topics, and pings. */
import type { IncomingMessage } from 'node:http';
import type net from 'node:net';
import type { ServerOptions, WebSocket, WebSocketServer } from 'ws';
import { PLACES, QUOTAS } from '../../fairness/limits.ts';
import { type EngineSocket, FULL_BYTES, type RawSocket } from '../engine-socket.ts';
import { whenEmpty } from './stream.ts';

const NOTHING = Buffer.alloc(0);
/** Memory of a Buffer of `ws` beside its bytes. */
const BUFFER_OVERHEAD = 300;
/** Bytes of a control frame before its payload: a client's has a mask. */
const CONTROL_HEAD = 6;
/** A peer has this long to close its side after a close frame. */
const CLOSING_MS = 2000;
/** One timer for all sockets: a ping after 44 s of silence, and 16 s to answer it. Proxies often close after 60 s. */
const LOOK_MS = 4000;
const PING_AFTER_LOOKS = 11;
const GONE_AFTER_LOOKS = 15;

type Topics = Map<string, Set<NodeSocket>>;

/** A text message as one frame (RFC 6455, 5.2). It is made once for all sockets of a topic: a server sends no mask. */
function frameOf(bytes: Buffer): Buffer {
  const isShort = bytes.length < 0x7e;
  const isMedium = !isShort && bytes.length < 0x1_0000;
  const head = Buffer.alloc(isShort ? 2 : isMedium ? 4 : 10);
  head[0] = 0x81; // The last part of a text message, which is also the first.
  head[1] = isShort ? bytes.length : isMedium ? 0x7e : 0x7f;
  if (isMedium) head.writeUInt16BE(bytes.length, 2);
  else if (!isShort) head.writeBigUInt64BE(BigInt(bytes.length), 2);
  return Buffer.concat([head, bytes]);
}

class NodeSocket implements RawSocket {
  readonly #ws: WebSocket;
  readonly #socket: net.Socket;
  readonly #owner: EngineSocket;
  readonly #topics: Topics;
  readonly #joined = new Set<string>();
  #isWaiting = false;
  /** Memory of the message that is arriving, at most. */
  #inputBytes = 0;
  /** For the look at silent sockets. */
  #heardBytes = 0;
  #silentLooks = 0;

  constructor(ws: WebSocket, socket: net.Socket, owner: EngineSocket, topics: Topics) {
    this.#ws = ws;
    this.#socket = socket;
    this.#owner = owner;
    this.#topics = topics;
    // With the binary type that is set by default each message is one Buffer.
    ws.on('message', (data, isBinary) => {
      this.#noteInput(-this.#inputBytes);
      owner.takeMessage(data as Buffer, isBinary);
    });
    const takeControlFrame = ({ length }: Buffer): void => {
      this.#noteInput(-Math.min(this.#inputBytes, CONTROL_HEAD + length + BUFFER_OVERHEAD));
      owner.takeControlFrame();
    };
    ws.on('ping', takeControlFrame);
    ws.on('pong', takeControlFrame);
    socket.on('data', ({ length }) => this.#noteInput(length + BUFFER_OVERHEAD));
    // A message that breaks the protocol: `ws` closes with the code for it.
    ws.on('error', () => undefined);
  }

  #noteInput(change: number): void {
    this.#inputBytes += change;
    this.#owner.keepInput(this.#inputBytes < QUOTAS.uncounted.maxBytes ? 0 : this.#inputBytes);
  }

  getBufferedAmount(): number {
    return this.#socket.writableLength;
  }

  send(text: string): void {
    this.#ws.send(text);
    this.#watch();
  }

  /** Sends a ready frame; a full socket loses it. */
  sendFrame(frame: Buffer): void {
    if (this.#ws.readyState !== this.#ws.OPEN || this.getBufferedAmount() > FULL_BYTES) return;
    this.#socket.write(frame);
    this.#watch();
  }

  cork(body: () => void): void {
    this.#socket.cork();
    body();
    this.#socket.uncork();
    this.#watch();
  }

  subscribe(topic: string): void {
    const sockets = this.#topics.get(topic);
    if (sockets === undefined) this.#topics.set(topic, new Set([this]));
    else sockets.add(this);
    this.#joined.add(topic);
  }

  unsubscribe(topic: string): void {
    this.#joined.delete(topic);
    const sockets = this.#topics.get(topic);
    sockets?.delete(this);
    if (sockets?.size === 0) this.#topics.delete(topic);
  }

  getTopics(): readonly string[] {
    return [...this.#joined];
  }

  end(code: number, reason: string): void {
    this.leaveAll();
    this.#ws.close(code, reason);
  }

  close(): void {
    this.#ws.terminate();
  }

  leaveAll(): void {
    for (const topic of this.#joined) this.unsubscribe(topic);
  }

  /** Pings a socket that has long been silent, and cuts it when that is not answered. */
  look(): void {
    const { bytesRead } = this.#socket;
    this.#silentLooks = bytesRead === this.#heardBytes ? this.#silentLooks + 1 : 0;
    this.#heardBytes = bytesRead;
    if (this.#silentLooks >= GONE_AFTER_LOOKS) this.#ws.terminate();
    else if (this.#silentLooks === PING_AFTER_LOOKS) this.#ws.ping(NOTHING);
  }

  /** Reports when what waits has left. Within a cork nothing has been tried yet. */
  #watch(): void {
    if (this.#isWaiting || this.#socket.writableCorked > 0) return;
    this.#isWaiting = whenEmpty(this.#socket, () => {
      this.#isWaiting = false;
      this.#owner.markDrained();
    });
  }
}

/** The typings lack some options. */
const OPTIONS: ServerOptions & {
  readonly closeTimeout: number;
  readonly maxBufferedChunks: number;
  readonly maxFragments: number;
  readonly maxPendingAutoPongs: number;
} = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: QUOTAS.socketFrame.maxBytes,
  maxFragments: PLACES.messageParts.max,
  maxBufferedChunks: PLACES.messageReads.max,
  skipUTF8Validation: false,
  // Each message in a turn of its own, so that what the one before it began has begun: a cancel may follow its action.
  allowSynchronousEvents: false,
  // Pings are answered by `ws`.
  autoPong: true,
  // The session counts pings with the messages, and closes with a code.
  maxPendingAutoPongs: 0,
  // No subprotocol: by default the first that is asked for would be agreed to.
  handleProtocols: () => false,
  closeTimeout: CLOSING_MS,
};

const LONG: typeof OPTIONS = {
  ...OPTIONS,
  maxPayload: QUOTAS.machineFrame.maxBytes,
  maxBufferedChunks: PLACES.longMessageReads.max,
};

export class NodeSockets {
  readonly #create: (options: typeof OPTIONS) => WebSocketServer;
  readonly #server: WebSocketServer;
  /** The one whose messages may be long. */
  #long: WebSocketServer | undefined;
  readonly #sockets = new Set<NodeSocket>();
  readonly #topics: Topics = new Map();
  #timer: NodeJS.Timeout | undefined;

  private constructor(create: (options: typeof OPTIONS) => WebSocketServer) {
    this.#create = create;
    this.#server = create(OPTIONS);
  }

  /** Loads `ws`, which a service without WebSockets does not need. */
  static async load(): Promise<NodeSockets> {
    const { WebSocketServer } = await import('ws');
    return new NodeSockets((options) => new WebSocketServer(options));
  }

  /**
   * Upgrades `request`; false when `ws` refuses it, which it has answered then. `head`: bytes that came with it. `isLong`:
   * its messages may be long.
   */
  open(owner: EngineSocket, request: IncomingMessage, head: Buffer, isLong: boolean): boolean {
    const { socket } = request;
    if (isLong) this.#long ??= this.#create(LONG);
    const server = (isLong ? this.#long : undefined) ?? this.#server;
    // Another protocol may have been offered too, which `ws` refuses; it was judged before (../upgrade.ts).
    request.headers.upgrade = 'websocket';
    let raw: NodeSocket | undefined;
    server.handleUpgrade(request, socket, head, (ws) => {
      const opened = new NodeSocket(ws, socket, owner, this.#topics);
      raw = opened;
      owner.markOpen(opened);
      this.#sockets.add(opened);
      ws.on('close', () => {
        opened.leaveAll();
        this.#sockets.delete(opened);
        owner.markClosed();
      });
    });
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
    return raw !== undefined;
  }

  publish(topic: string, bytes: Buffer): void {
    const sockets = this.#topics.get(topic);
    if (sockets === undefined) return;
    const frame = frameOf(bytes);
    for (const socket of sockets) socket.sendFrame(frame);
  }

  #look(): void {
    for (const socket of this.#sockets) socket.look();
    if (this.#sockets.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
