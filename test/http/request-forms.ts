/**
 * Forms that a request may have on the wire, sent by a raw client to a service whose power actions are only recorded and
 * whose players are made up, and how the engine treats each. http-table.md has the outcomes of both engines.
 */
import { parseAnswer, RawConnection, requestBytes, valuesOf } from '../helpers/clients/http.ts';
import { SocketClient } from '../helpers/clients/socket.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { FakeMediaHost, playerOf, snapshotOf } from '../helpers/fakes/media.ts';
import { startHere } from '../helpers/service/service.ts';

/** Closes the client's side in place of a packet. */
const END = Symbol('end');

type Packet = string | typeof END;

export interface Form {
  readonly section: string;
  readonly name: string;
  /** Each is sent when the service has read the one before. */
  readonly packets: readonly Packet[];
  /** Media commands are carried out only after the last packet. */
  readonly isSlow: boolean;
}

const HOST = 'Host: localhost\r\n';
/** Its answer goes before the action and is the last one on the connection. */
const COMMAND = `POST /api/pw/sleep HTTP/1.1\r\n${HOST}`;
const CHUNKED = `${COMMAND}Transfer-Encoding: chunked\r\n\r\n`;
const POST = `${COMMAND}Content-Length: 2\r\n\r\n{}`;
/** Its answer goes after the action, and the connection stays open. */
const PAUSE = `POST /api/media/control HTTP/1.1\r\n${HOST}Content-Length: 18\r\n\r\n{"action":"pause"}`;
const CHUNKED_PAUSE = PAUSE.replace(
  'Content-Length: 18\r\n\r\n',
  'Transfer-Encoding: chunked\r\n\r\n12\r\n',
).concat('\r\n0\r\n\r\n');
const GET = `GET /api/status HTTP/1.1\r\n${HOST}\r\n`;
const NOT_HTTP = '\x16\x03\x01\r\n\r\n';

const socket = (lines: string) =>
  `GET /api/ws HTTP/1.1\r\n${HOST}${lines}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
const upgrade = (value: string) => socket(`Connection: Upgrade\r\nUpgrade: ${value}\r\n`);

const SLOW = 'What arrives while a command is being carried out';

const SECTIONS: Readonly<Record<string, Readonly<Record<string, readonly Packet[]>>>> = {
  Bodies: {
    'without a body': [`${COMMAND}\r\n`],
    '`Content-Length: 2`': [POST],
    'the same, the body in a packet of its own': [`${COMMAND}Content-Length: 2\r\n\r\n`, '{}'],
    'the same, in 2 packets that cut a header': [POST.slice(0, 40), POST.slice(40)],
    'the same, cut in the path': [POST.slice(0, 10), POST.slice(10)],
    'the same, cut behind the method': [POST.slice(0, 5), POST.slice(5)],
    'the same, cut in the version': [POST.slice(0, 25), POST.slice(25)],
    'the same, and the client closes its side': [POST, END],
    'a body that ends early': [`${COMMAND}Content-Length: 10\r\n\r\n{}`, END],
    '2 equal `Content-Length`': [`${COMMAND}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`],
    '2 different `Content-Length`': [`${COMMAND}Content-Length: 2\r\nContent-Length: 0\r\n\r\n{}`],
    '`Content-Length: 2, 2`': [`${COMMAND}Content-Length: 2, 2\r\n\r\n{}`],
    '`Content-Length: +2`': [`${COMMAND}Content-Length: +2\r\n\r\n{}`],
    '`Content-Length` and `Transfer-Encoding`': [
      `${COMMAND}Content-Length: 12\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    ],
    '`Transfer-Encoding: gzip, chunked`': [`${COMMAND}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    '2 `Transfer-Encoding: chunked`': [
      `${COMMAND}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
  },
  'Chunked bodies': {
    '`Transfer-Encoding: chunked`': [`${CHUNKED}2\r\n{}\r\n0\r\n\r\n`],
    '`transfer-encoding: CHUNKED`': [`${COMMAND}transfer-encoding: CHUNKED\r\n\r\n2\r\n{}\r\n0\r\n\r\n`],
    'each chunk in a packet of its own': [CHUNKED, '1\r\n{\r\n', '1\r\n}\r\n', '0\r\n\r\n'],
    'cut in the last chunk': [`${CHUNKED}2\r\n{}\r\n0\r\n`, '\r\n'],
    'a trailer': [`${CHUNKED}2\r\n{}\r\n0\r\nX-Checksum: 1\r\n\r\n`],
    'a trailer that `Trailer` announces': [
      `${COMMAND}Trailer: X-Checksum\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Checksum: 1\r\n\r\n`,
    ],
    'a trailer in a packet of its own': [`${CHUNKED}2\r\n{}\r\n0\r\n`, 'X-Checksum: 1\r\n\r\n'],
    'a chunk extension, `2;a=b`': [`${CHUNKED}2;a=b\r\n{}\r\n0\r\n\r\n`],
    'a chunk extension, `2;name`': [`${CHUNKED}2;name\r\n{}\r\n0\r\n\r\n`],
    'a chunk extension of the last chunk': [`${CHUNKED}2\r\n{}\r\n0;a=b\r\n\r\n`],
    'a chunk longer than its size': [`${CHUNKED}2\r\n{}{}\r\n0\r\n\r\n`],
    'a size that is not a number': [`${CHUNKED}zz\r\n{}\r\n0\r\n\r\n`],
    'a body that ends early': [`${CHUNKED}2\r\n{}\r\n`, END],
  },
  'Empty lines': {
    'an empty line before the request': [`\r\n${POST}`],
    'an empty line before the request, in a packet of its own': ['\r\n', POST],
    '2 empty lines before the request': [`\r\n\r\n${POST}`],
    'an empty line after a body': [`${PAUSE}\r\n`],
    'the same, then a GET in the same packet': [`${PAUSE}\r\n${GET}`],
    'the same, then a GET': [`${PAUSE}\r\n`, GET],
    'an empty line in a packet of its own, then a GET': [PAUSE, '\r\n', GET],
    'an empty line after a chunked body': [`${CHUNKED_PAUSE}\r\n`],
  },
  'Several requests': {
    '2 GETs, the second after the answer': [GET, GET],
    '2 commands, the second after the answer': [PAUSE, PAUSE],
    '2 GETs in one packet': [`${GET}${GET}`],
    '2 commands in one packet': [`${PAUSE}${PAUSE}`],
    'a command and a GET in one packet': [`${PAUSE}${GET}`],
    'a GET and a command in one packet': [`${GET}${PAUSE}`],
    '2 chunked commands in one packet': [`${CHUNKED_PAUSE}${CHUNKED_PAUSE}`],
    '20 commands in one packet': [PAUSE.repeat(20)],
    'a command and bytes that are not HTTP in one packet': [`${PAUSE}${NOT_HTTP}`],
    'a command with `Connection: close`, and a GET': [
      PAUSE.replace('\r\n', '\r\nConnection: close\r\n') + GET,
    ],
    '`Connection: keep-alive` and `Connection: close`': [
      PAUSE.replace('\r\n', '\r\nConnection: keep-alive\r\nConnection: close\r\n'),
    ],
  },
  [SLOW]: {
    nothing: [PAUSE],
    'an empty line': [PAUSE, '\r\n'],
    'a GET': [PAUSE, GET],
    'a second command': [PAUSE, PAUSE],
    '20 commands': [PAUSE, PAUSE.repeat(20)],
    'bytes that are not HTTP': [PAUSE, NOT_HTTP],
    "the end of the client's side": [PAUSE, END],
    'after a chunked body: a trailer': [CHUNKED_PAUSE.slice(0, -2), 'X-Checksum: 1\r\n\r\n'],
    'after a chunked body: its last line': [CHUNKED_PAUSE.slice(0, -2), '\r\n'],
    'after a chunked body: a GET': [CHUNKED_PAUSE, GET],
    'after a chunked body: bytes that are not HTTP': [CHUNKED_PAUSE, NOT_HTTP],
    "after a chunked body: the end of the client's side": [CHUNKED_PAUSE, END],
  },
  Heads: {
    'a folded header (obs-fold)': [POST.replace('\r\n', '\r\nX-Folded: a\r\n b\r\n')],
    'a folded `Transfer-Encoding`': [`${COMMAND}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n`],
    'a space before a colon': [POST.replace('\r\n', '\r\nX-Spaced : a\r\n')],
    'lines that end with LF alone': [POST.replaceAll('\r\n', '\n')],
    'a method in lower case': [POST.replace('POST', 'post')],
    '2 spaces in the request line': [POST.replace(' ', '  ')],
    'no `Host`': [POST.replace(HOST, '')],
    '2 `Host`': [POST.replace(HOST, HOST + HOST)],
    'HTTP/1.0': [POST.replace('HTTP/1.1', 'HTTP/1.0')],
    'HTTP/1.0 with `Connection: keep-alive`': [
      POST.replace('HTTP/1.1\r\n', 'HTTP/1.0\r\nConnection: keep-alive\r\n'),
    ],
    'HTTP/1.0 with a chunked body': [`${CHUNKED}0\r\n\r\n`.replace('HTTP/1.1', 'HTTP/1.0')],
    'HTTP/2.0': [POST.replace('HTTP/1.1', 'HTTP/2.0')],
    'absolute form': [POST.replace('/api', 'http://localhost/api')],
    'absolute form with another authority': [POST.replace('/api', 'http://evil.example/api')],
    '`OPTIONS *`': [`OPTIONS * HTTP/1.1\r\n${HOST}\r\n`],
    '`Expect: 100-continue`, the body after the answer': [
      `${COMMAND}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`,
      '{}',
    ],
    '`Expect: 100-continue` with the body': [`${COMMAND}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}`],
    '`Expect: 100-continue`, chunked': [
      `${COMMAND}Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n`,
      '0\r\n\r\n',
    ],
    'another `Expect`': [POST.replace('\r\n', '\r\nExpect: something\r\n')],
    'a command with `Upgrade: h2c`': [
      POST.replace('\r\n', '\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: \r\n'),
    ],
    'a command with `Upgrade: websocket`': [
      POST.replace('\r\n', '\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'),
    ],
    'a chunked command with `Upgrade: h2c`': [
      `${CHUNKED}0\r\n\r\n`.replace('\r\n', '\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n'),
    ],
  },
  'Upgrades at `/api/ws`': {
    '`Upgrade: websocket`': [upgrade('websocket')],
    '`Upgrade: WebSocket`': [upgrade('WebSocket')],
    '`Upgrade: websocket, h2c`': [upgrade('websocket, h2c')],
    '`Upgrade: h2c,websocket`': [upgrade('h2c,websocket')],
    '`Upgrade: h2c` and `Upgrade: websocket`': [upgrade('h2c\r\nUpgrade: websocket')],
    '`Upgrade: websocket/13`': [upgrade('websocket/13')],
    '`Upgrade: websockets`': [upgrade('websockets')],
    '`Upgrade: h2c`': [upgrade('h2c')],
    '`Connection: keep-alive, UPGRADE`': [
      socket('Connection: keep-alive, UPGRADE\r\nUpgrade: websocket\r\n'),
    ],
    '`Connection: keep-alive` and `Connection: Upgrade`': [
      socket('Connection: keep-alive\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'),
    ],
    '`Connection: upgraded`': [socket('Connection: upgraded\r\nUpgrade: websocket\r\n')],
    'no `Connection`': [socket('Upgrade: websocket\r\n')],
    '2 `Sec-WebSocket-Key`': [upgrade('websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==')],
    'a key of 24 bytes that is not Base64': [upgrade('websocket').replace('dGhl', '____')],
    '`Sec-WebSocket-Version: 8`': [upgrade('websocket').replace('13', '8')],
    'HTTP/1.0': [upgrade('websocket').replace('HTTP/1.1', 'HTTP/1.0')],
    'a body': [upgrade('websocket\r\nContent-Length: 2').concat('{}')],
  },
};

export const FORMS: readonly Form[] = Object.entries(SECTIONS).flatMap(([section, forms]) =>
  Object.entries(forms).map(([name, packets]) => ({ section, name, packets, isSlow: section === SLOW })),
);

/** How an engine treated a form. */
export interface Outcome {
  /** The answers in order, as `200`, `505 HTML`, `no answer`; `closed` where the connection has ended. */
  readonly answers: string;
  /** Commands that were carried out. */
  readonly done: number;
  /** Commands that were answered with success. */
  readonly answered: number;
}

/** Requests on another connection, so many that all that a packet brings about has happened. */
const ROUND_TRIPS = 8;

/** The answers in `bytes`; only the last one may be without an end. */
function readAnswers(
  bytes: Buffer,
  isClosed: boolean,
): { readonly texts: string[]; readonly answered: number } {
  const texts: string[] = [];
  let answered = 0;
  for (let rest = bytes; rest.length > 0; ) {
    const found = parseAnswer(rest, 'GET', isClosed);
    if (found === undefined) throw new Error(`half an answer: ${rest.toString('latin1').slice(0, 200)}`);
    const { answer, end } = found;
    rest = rest.subarray(end);
    const body = answer.body.toString('latin1');
    if (body.includes('initiated') || valuesOf(answer, 'x-media-delivered').length > 0) answered++;
    texts.push(`${answer.status}${/<html|<h1/i.test(body) ? ' HTML' : ''}`);
    // Frames follow.
    if (answer.status === 101) break;
  }
  return { texts, answered };
}

export interface Table {
  /** Sends `form` and returns how it was treated. */
  readonly treat: (form: Form) => Promise<Outcome>;
  readonly stop: () => Promise<void>;
}

export async function startTable(): Promise<Table> {
  const media = new FakeMediaHost();
  media.snapshot = snapshotOf(playerOf('player', { playback: 'playing' }));
  const service = await startHere({ ...fixtureHost(), media });
  const other = await RawConnection.open(service.port);
  // The code for WebSockets is loaded with the first, which takes longer than the round trips.
  (await SocketClient.open(service.port)).cut();
  const settle = async () => {
    for (let i = 0; i < ROUND_TRIPS; i++) {
      other.write(requestBytes('/api/status'));
      await other.readAnswer();
    }
  };
  const countDone = () => media.controls.length + service.stderr().split('power: accepted sleep').length - 1;
  return {
    async treat({ packets, isSlow }) {
      const before = countDone();
      const connection = await RawConnection.open(service.port);
      media.isSlow = isSlow;
      for (const packet of packets) {
        if (packet === END) connection.end();
        else connection.write(packet);
        await settle();
      }
      media.isSlow = false;
      media.finish();
      await settle();
      const { isClosed } = connection;
      const { texts, answered } = readAnswers(connection.rest, isClosed);
      connection.destroy();
      const words = [...(texts.length > 0 ? texts : ['no answer']), ...(isClosed ? ['closed'] : [])];
      return { answers: words.join(', '), done: countDone() - before, answered };
    },
    async stop() {
      other.destroy();
      await service.stop();
    },
  };
}
