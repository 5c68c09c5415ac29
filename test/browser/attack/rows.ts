/** All attacks. */
import type { Row } from './row.ts';
import { EMBED_ROWS } from './rows-embed.ts';
import { FETCH_ROWS } from './rows-fetch.ts';
import { FORM_ROWS } from './rows-forms.ts';
import { READ_ROWS } from './rows-read.ts';
import { REBOUND_ROWS } from './rows-rebound.ts';
import { SOCKET_ROWS } from './rows-sockets.ts';
import { WORKER_ROWS } from './rows-workers.ts';

export const ROWS: readonly Row[] = [
  ...FORM_ROWS,
  ...FETCH_ROWS,
  ...WORKER_ROWS,
  ...READ_ROWS,
  ...EMBED_ROWS,
  ...REBOUND_ROWS,
  ...SOCKET_ROWS,
];
