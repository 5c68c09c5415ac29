/** Payload of the list of keys: names and terms, without a key or a digest. */
import * as v from 'valibot';
import { means } from './meaning.ts';
import type { OperationDocs } from './operation-docs.ts';
import { count, known, type Shape, unixSeconds } from './quantities.ts';

const keyUse = v.strictObject({
  at: means(unixSeconds, 'Time of the last request or WebSocket message; now, while a connection is open.'),
  address: means(v.string(), 'Its source address.'),
});

export const keyRow = v.strictObject({
  name: means(v.string(), 'In `auth.keys`; `default`: that of `auth.api_key`.'),
  scopes: means(v.array(v.string()), 'What it may do (docs/keys.md).'),
  expires: means(known(v.string()), 'As configured; null: it does not expire.'),
  is_expired: means(v.boolean(), 'True if that time has passed.'),
  last_use: means(known(keyUse), 'null: none since `since`.'),
  open: means(count, 'Its open streams and WebSockets, those of hubs included.'),
});
export type KeyRow = Shape<typeof keyRow>;

export const keyList = v.strictObject({
  since: means(unixSeconds, 'Earlier uses are not known.'),
  keys: means(v.array(keyRow), 'That of `auth.api_key` first.'),
});
export type KeyList = Shape<typeof keyList>;

export const LIST_KEYS_DOCS: OperationDocs & { readonly body?: never } = {
  summary: 'The keys of the configuration, and their last uses',
  description:
    'Without a key or a digest. Requires a key with the scope `admin`, even where clients without a key may do everything; for that key the answer shows the use before this request.',
  payloads: [keyList],
  errors: [],
  example: { options: "-H 'Authorization: Bearer <API_KEY>'" },
};
