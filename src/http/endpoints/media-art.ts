/** The picture of what is played, where it is a file of this machine: pages of the service must ask no stranger for it. */
import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { ServiceError } from '../../errors.ts';
import { checkParams } from '../../params.ts';
import type { MediaPayload } from '../../wire/media.ts';
import { mediaParams } from '../../wire/requests.ts';
import { statusLine, UNSEEN } from '../reply.ts';
import type { Route } from '../routes.ts';
import type { Answer } from '../uws/exchange.ts';

/** Covers are some hundred kilobytes. */
export const MOST_ART_BYTES = 1024 * 1024;
/** A file may lie on a server that has gone. */
const READ_LIMIT_MS = 1500;

interface Picture {
  readonly type: string;
  readonly bytes: Buffer;
}

/** What files begin with; what is none of these is not handed out, whatever it is called. */
function typeOf(bytes: Buffer): string | undefined {
  const head = bytes.toString('latin1', 0, 12);
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (head.startsWith('GIF87a') || head.startsWith('GIF89a')) return 'image/gif';
  return head.startsWith('RIFF') && head.endsWith('WEBP') ? 'image/webp' : undefined;
}

async function readPicture(file: string): Promise<Picture | undefined> {
  // Before it is opened: opening a device may do something.
  const before = await stat(file);
  if (!before.isFile() || before.size > MOST_ART_BYTES) return undefined;
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const opened = await handle.stat();
    if (!opened.isFile() || opened.size > MOST_ART_BYTES) return undefined;
    const buffer = Buffer.alloc(opened.size);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    const bytes = buffer.subarray(0, bytesRead);
    const type = typeOf(bytes);
    return type === undefined ? undefined : { type, bytes };
  } finally {
    await handle.close();
  }
}

/** The path in `url`, or undefined where it is not that of a file of this machine. */
function fileOf(url: string | null): string | undefined {
  try {
    return url?.startsWith('file:') ? fileURLToPath(url) : undefined;
  } catch {
    return undefined;
  }
}

export interface MediaArtOptions {
  /** Rejects with `player_not_found`. */
  readonly readStatus: (player: string | undefined, withDetail: true) => Promise<MediaPayload>;
  /** For tests. */
  readonly read?: (file: string) => Promise<Picture | undefined>;
}

export function mediaArtRoute({ readStatus, read = readPicture }: MediaArtOptions): Route {
  // One at a time: a server that has gone then holds one thread of libuv's pool, and not all four.
  let reading: Promise<Picture | undefined> | undefined;
  const readAlone = (file: string) => {
    if (reading !== undefined) throw new ServiceError('not_possible_now', 'Another picture is being read.');
    const begun = read(file).catch(() => undefined);
    reading = begun;
    void begun.then(() => {
      reading = undefined;
    });
    return within(begun);
  };
  return {
    path: '/api/media/art',
    methods: {
      GET: {
        feature: 'enable_media',
        async run({ query, headers }) {
          const { player } = checkParams(mediaParams, { player: query.get('player') ?? undefined });
          const status = await readStatus(player, true);
          const file = fileOf('art_url' in status ? status.art_url : null);
          const picture = file === undefined ? undefined : await readAlone(file);
          if (picture === undefined)
            throw new ServiceError('not_found', 'What is played has no picture on this machine.');
          return pictureAnswer(picture, headers);
        },
      },
    },
  };
}

async function within<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    const error = new ServiceError('not_possible_now', 'The picture could not be read in time.');
    timer = setTimeout(() => reject(error), READ_LIMIT_MS);
  });
  try {
    return await Promise.race([promise, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

function pictureAnswer({ type, bytes }: Picture, headers: Answer['headers']): Answer {
  return {
    status: statusLine(200),
    headers: [
      ['Content-Type', type],
      ['Cache-Control', 'no-store'],
      ['X-Content-Type-Options', 'nosniff'],
      ['Content-Security-Policy', "default-src 'none'; sandbox"],
      ...UNSEEN,
      ...headers,
    ],
    body: bytes,
  };
}
