/**
 * An independent, strict reading of request bytes (RFC 9112): which requests are in them, and which of these may be
 * answered with a success. It shares no code with the service.
 *
 * Not judged, each for a reason: the contents of a query (any byte above a space), more than one Host (the web guard's
 * to refuse), a DEL in a header's value (RFC 9110, 5.5 lets it pass), and a chunked body (its connection ends with the answer, so that nothing behind it counts).
 */

export interface JudgedRequest {
  readonly method: string;
  /** The one success it may be answered with; undefined: none. */
  readonly success: 200 | 204 | undefined;
  /** It has nothing unusual: delivered at once, it must be answered. */
  readonly isPlain: boolean;
}

const GET_PATHS = new Set(['/api/status', '/api/usage', '/api/system', '/api/stream']);
const REQUEST_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) (\/[\x21-\xff]*) HTTP\/1\.1$/;
const FIELD = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([\t\x20-\xff]*)$/;
// uWebSockets.js also treats bytes above 0x7f at either end of a value as blanks.
const TRIMMED = /^[\t\x20\x80-\xff]+|[\t\x20\x80-\xff]+$/g;
const MAX_DRAINED_BYTES = 1024 * 1024;
/** A head within these limits is always read; the exact ones are 16 KiB and 100 lines. */
const PLAIN_HEAD_BYTES = 12 * 1024;
const PLAIN_HEAD_LINES = 90;

interface Head {
  readonly method: string;
  readonly path: string;
  readonly fields: ReadonlyMap<string, readonly string[]>;
}

function readHead(text: string): Head | undefined {
  const [first = '', ...lines] = text.split('\r\n');
  const request = REQUEST_LINE.exec(first);
  if (request === null) return undefined;
  const fields = new Map<string, string[]>();
  for (const line of lines) {
    // For uWebSockets.js a line without a name is the last one, and no callback reports it.
    if (line.startsWith(':')) break;
    const field = FIELD.exec(line);
    if (field === null) return undefined;
    const name = (field[1] ?? '').toLowerCase();
    fields.set(name, [...(fields.get(name) ?? []), (field[2] ?? '').replace(TRIMMED, '')]);
  }
  if (!fields.has('host')) return undefined;
  return { method: request[1] ?? '', path: (request[2] ?? '').split('?', 1)[0] ?? '', fields };
}

/** How many bytes of body follow; undefined: nothing behind this request may be read as another one. */
function bodyLength(head: Head): number | undefined | 'doubtful' {
  const lengths = head.fields.get('content-length') ?? [];
  const encodings = head.fields.get('transfer-encoding') ?? [];
  if (lengths.length > 1 || encodings.length > 1 || (lengths.length > 0 && encodings.length > 0))
    return 'doubtful';
  if (encodings.length > 0) return encodings[0]?.toLowerCase() === 'chunked' ? undefined : 'doubtful';
  if (lengths[0] !== undefined && !/^\d+$/.test(lengths[0])) return 'doubtful';
  const length = Number(lengths[0] ?? 0);
  const saysClose = head.fields.get('connection')?.some((value) => /(^|,)\s*close\s*(,|$)/i.test(value));
  return length > MAX_DRAINED_BYTES || saysClose ? undefined : length;
}

function successOf({ method, path }: Head): 200 | 204 | undefined {
  if (method === 'OPTIONS' && (GET_PATHS.has(path) || path === '/api/ws')) return 204;
  return (method === 'GET' || method === 'HEAD') && GET_PATHS.has(path) ? 200 : undefined;
}

/** The requests in `bytes`, in order, up to the first that is invalid, is incomplete or ends the connection. */
export function judge(bytes: Buffer): readonly JudgedRequest[] {
  const text = bytes.toString('latin1');
  const judged: JudgedRequest[] = [];
  for (let at = 0; ; ) {
    const end = text.indexOf('\r\n\r\n', at);
    const head = end < 0 ? undefined : readHead(text.slice(at, end));
    if (head === undefined) return judged;
    const length = bodyLength(head);
    const success = length === 'doubtful' ? undefined : successOf(head);
    const isSmall =
      end - at < PLAIN_HEAD_BYTES && text.slice(at, end).split('\r\n').length < PLAIN_HEAD_LINES;
    const isPlain = isSmall && typeof length === 'number' && `${head.fields.get('host')}` === 'localhost';
    judged.push({ method: head.method, success, isPlain });
    if (typeof length !== 'number') return judged;
    at = end + 4 + length;
  }
}
