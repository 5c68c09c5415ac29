/** Sessions at a broker, by docs/websocket.md: numbered payloads, which are frames or parts of them. */
const LF = 10;

/** The payload of a frame of a session, or of a part of it that others follow. */
export function payloadOf(session: string, number: number, bytes: Buffer | string, isPart = false): Buffer {
  return Buffer.concat([Buffer.from(`${session} ${number}${isPart ? ' +' : ''}\n`), Buffer.from(bytes)]);
}

export const endOf = (session: string): string => `${session} end`;

interface Payload {
  readonly session: string;
  /** undefined: the end of the session. */
  readonly number: number | undefined;
  readonly isPart: boolean;
  readonly bytes: Buffer;
}

export function readPayload(payload: Buffer): Payload | undefined {
  const at = payload.indexOf(LF);
  const head = payload.subarray(0, at < 0 ? payload.length : at).toString('latin1');
  const [, session = '', word = '', more] = /^([A-Za-z0-9]{8,32}) (\d+|end)( \+)?$/.exec(head) ?? [];
  if (session === '') return undefined;
  const number = word === 'end' ? undefined : Number(word);
  return {
    session,
    number,
    isPart: more !== undefined,
    bytes: payload.subarray(at < 0 ? payload.length : at + 1),
  };
}

/** Joins the payloads of one direction. */
export class Joiner {
  readonly session: string;
  #next = 0;
  #parts: Buffer[] = [];

  constructor(session: string) {
    this.session = session;
  }

  /** The frame that this payload completes; 'gap': the session has lost one. */
  take({ number, isPart, bytes }: Payload): Buffer | 'gap' | undefined {
    if (number !== this.#next) return 'gap';
    this.#next++;
    this.#parts.push(bytes);
    return isPart ? undefined : Buffer.concat(this.#parts.splice(0));
  }
}
