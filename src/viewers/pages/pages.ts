/** The dashboard's files: read once, kept compressed in memory, served with headers that restrict what the page may load. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ALL_SECTIONS } from '../../host/host.ts';
import { acceptedEncodings } from '../../http/compress.ts';
import { entriesOf, isKnown } from '../../http/etag.ts';
import type { Gate } from '../../http/gate.ts';
import type { Answer } from '../../http/head.ts';
import { type Headers, statusLine } from '../../http/reply.ts';
import type { Request, Route } from '../../http/routes.ts';
import type { Machine } from '../../machine/machine.ts';
import { PROGRAM_URL } from '../../program-url.ts';
import { viewOf } from '../../stats/view.ts';
import { OPERATIONS } from '../../wire/operations.ts';

/** The request headers that its routes read, in lower case. */
export const DASHBOARD_HEADERS: readonly string[] = ['accept-encoding', 'if-none-match'];

/** In order of preference; each is the ending of the file beside the plain one. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};

const ROOT = '/';
const INDEX = 'index.html';
/** The paths of the pages; that of the dashboard of one machine of the hub has its id. */
const PAGES: Readonly<Record<string, string>> = { [INDEX]: ROOT, 'host.html': '/hosts/*/' };

/** Covers are fetched with the key and shown as blobs. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const HEADERS: Headers = [
  ['Content-Security-Policy', POLICY],
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Permissions-Policy', 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()'],
  ['Vary', 'Accept-Encoding'],
];

export interface WebFile {
  /** The path of the request. */
  readonly path: string;
  readonly type: string;
  /** Weak: the same for every encoding. */
  readonly etag: string;
  readonly plain: Buffer;
  /** By the name of the encoding. */
  readonly encoded: ReadonlyMap<string, Buffer>;
}

/** Where the build puts the files of the dashboard, and those of the hub's pages: beside this program. */
export type WebFolder = 'web' | 'fleet';

/** The files of `folder`, each with its compressed forms; empty if they were not built. */
export function readPages(of: WebFolder): readonly WebFile[] {
  const folder = fileURLToPath(new URL(`${of}/`, PROGRAM_URL));
  if (!existsSync(path.join(folder, INDEX))) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && TYPES[path.extname(entry.name)] !== undefined)
    .map((entry) => readWebFile(folder, path.join(entry.parentPath, entry.name)));
}

function readWebFile(folder: string, file: string): WebFile {
  const name = path.relative(folder, file).split(path.sep).join('/');
  const plain = readFileSync(file);
  const digest = createHash('sha256').update(plain).digest('base64url').slice(0, 22);
  return {
    path: PAGES[name] ?? `/${name}`,
    type: TYPES[path.extname(name)] ?? '',
    etag: `W/"${digest}"`,
    plain,
    encoded: new Map(
      ENCODINGS.filter(([, ending]) => existsSync(file + ending)).map(([encoding, ending]) => [
        encoding,
        readFileSync(file + ending),
      ]),
    ),
  };
}

/**
 * The pages of a hub: all machines at `/`, and one machine at /hosts/{id}/, which is the dashboard of the service with
 * another address to ask. The page of an id that is not configured is the same: pages are public, ids are not.
 */
export function readHubPages(): readonly WebFile[] {
  const own = readPages('fleet');
  return own.length === 0 ? [] : [...own, ...readPages('web').filter(({ path: file }) => file !== ROOT)];
}

export interface DashboardDeps {
  readonly dashboard: readonly WebFile[];
  readonly gate: Pick<Gate, 'passes'>;
  readonly machine: Pick<Machine, 'usage'>;
}

export function dashboardRoutes({ dashboard, gate, machine }: DashboardDeps): readonly Route[] {
  return fileRoutes(dashboard, (file, { client }) => {
    const { request } = client;
    if (file.path !== ROOT || request === undefined) return;
    // The page opens a stream next, which should find a sample already: the first load takes 200 ms to measure.
    if (gate.passes({ ...client, request: { ...request, path: OPERATIONS.openStream.path } }))
      machine.usage(viewOf(ALL_SECTIONS, true), client).catch(() => undefined);
  });
}

/** A route per file; `onRead` is called before each answer. */
export const fileRoutes = (
  files: readonly WebFile[],
  onRead?: (file: WebFile, request: Request) => void,
): readonly Route[] =>
  files.map((file) => ({
    path: file.path,
    methods: {
      GET: {
        feature: 'enable_dashboard',
        run(request) {
          onRead?.(file, request);
          return fileAnswer(file, request);
        },
      },
    },
  }));

function fileAnswer(file: WebFile, { exchange, headers }: Request): Answer {
  const lists = exchange.head.headers;
  const shared: Headers = [
    ...HEADERS,
    // Every name except the page's contains the hash of its content.
    ['Cache-Control', file.path.endsWith('/') ? 'no-cache' : 'public, max-age=31536000, immutable'],
    ['ETag', file.etag],
    ...headers,
  ];
  if (isKnown(file.etag, lists)) return { status: statusLine(304), headers: shared, body: undefined };
  const accepted = acceptedEncodings(entriesOf(lists, 'accept-encoding'));
  const encoding = [...file.encoded.keys()].find((name) => accepted.has(name));
  const body = encoding === undefined ? file.plain : (file.encoded.get(encoding) ?? file.plain);
  return {
    status: statusLine(200),
    headers: [
      ['Content-Type', file.type],
      ...(encoding === undefined ? [] : [['Content-Encoding', encoding] as const]),
      ...shared,
    ],
    body,
  };
}
