/** The hub's document of the operations of one machine that its own service answers. */
import type { ErrorCode } from '../errors.ts';
import { HISTORY_DOCS } from './history.ts';
import type { IdOnHost } from './hub-operations.ts';
import { MEDIA_DOCS } from './media.ts';
import type { OperationDocs } from './operation-docs.ts';
import { OPERATIONS, type Operation, type OperationId } from './operations.ts';
import { POWER_DOCS } from './power.ts';
import { PROCESS_DOCS } from './process.ts';
import { WAKE_DOCS } from './wake.ts';

function ofHost(docs: OperationDocs, more: readonly ErrorCode[], sentence: string): OperationDocs {
  const { example: _, parameters = [], description, ...same } = docs;
  return {
    ...same,
    summary: `${docs.summary}, on one machine`,
    description: [sentence, description].filter((text) => text !== undefined).join(' '),
    parameters: ['id', ...parameters],
    errors: [...new Set<ErrorCode>([...docs.errors, 'not_found', 'host_unreachable', ...more])],
  };
}

const read = (docs: OperationDocs) => ofHost(docs, [], 'The answer of the machine, whose own flags decide.');

/** An answer that may be long. */
const readLong = (docs: OperationDocs, limit: string) =>
  ofHost(
    docs,
    ['payload_too_large'],
    `The answer of the machine, whose own flags decide. Through a broker, an answer of more than ${limit} is refused: 413 \`payload_too_large\`.`,
  );

const command = (docs: OperationDocs) =>
  ofHost(
    docs,
    ['outcome_unknown'],
    "The client must be allowed to by `hub.commands` (403 `command_not_allowed`), and the action by the machine's own flags. It is sent once, and not started later than 5 seconds after the request: 503 `host_unreachable` means that it was not carried out, 504 `outcome_unknown` that this is unknown.",
  );

type Docs = typeof HISTORY_DOCS &
  typeof POWER_DOCS &
  typeof WAKE_DOCS &
  typeof MEDIA_DOCS &
  typeof PROCESS_DOCS;
type ForwardedId = IdOnHost<keyof Docs>;

/** The documents of each operation of the service that a hub passes on to one machine. */
const OWN_DOCS: Readonly<Partial<Record<OperationId, OperationDocs>>> = {
  ...HISTORY_DOCS,
  ...POWER_DOCS,
  ...WAKE_DOCS,
  ...MEDIA_DOCS,
  ...PROCESS_DOCS,
};

function docsOnHost({ method }: Operation, docs: OperationDocs): OperationDocs {
  if (method === 'POST') return command(docs);
  return docs.maxThroughBroker === undefined ? read(docs) : readLong(docs, docs.maxThroughBroker);
}

/** By the ids of HUB_OPERATIONS. */
export const FORWARDED_DOCS = Object.fromEntries(
  Object.entries<Operation>(OPERATIONS).flatMap(([id, row]) => {
    const docs = OWN_DOCS[id as OperationId]; // Its own keys are exactly the ids.
    return row.onHost === undefined || docs === undefined ? [] : [[row.onHost, docsOnHost(row, docs)]];
  }),
) as Readonly<Record<ForwardedId, OperationDocs>>; // The ids that are not in HUB_DOCS.
