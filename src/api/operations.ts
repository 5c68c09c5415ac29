/** Every operation of HTTP as the API documents use it: its row, its OperationDocs and its id in one object. */

import { EVENTS_DOCS } from '../wire/events.ts';
import { HISTORY_DOCS } from '../wire/history.ts';
import { HUB_DOCS } from '../wire/hub.ts';
import { HUB_OPERATIONS, type HubOperationId } from '../wire/hub-operations.ts';
import { MEDIA_DOCS } from '../wire/media.ts';
import type { DocsOf, OperationDocs } from '../wire/operation-docs.ts';
import { OPERATIONS, type Operation, type OperationId } from '../wire/operations.ts';
import { POWER_DOCS } from '../wire/power.ts';
import { PROCESS_DOCS } from '../wire/process.ts';
import { SERVICE_DOCS } from '../wire/service.ts';
import { SOCKET_DOCS } from '../wire/socket-events.ts';
import { SYSTEM_DOCS } from '../wire/system.ts';
import { USAGE_DOCS } from '../wire/usage.ts';
import { WAKE_DOCS } from '../wire/wake.ts';

// The compiler reports an operation that is missing here.
const DOCS: DocsOf<OperationId> = {
  ...USAGE_DOCS,
  ...HISTORY_DOCS,
  ...EVENTS_DOCS,
  ...SYSTEM_DOCS,
  ...SOCKET_DOCS,
  ...POWER_DOCS,
  ...WAKE_DOCS,
  ...MEDIA_DOCS,
  ...PROCESS_DOCS,
  ...SERVICE_DOCS,
};

export interface DocumentedOperation extends Omit<Operation, 'body'>, Omit<OperationDocs, 'body'> {
  readonly id: OperationId | HubOperationId;
  /** How a body is read; `bodySchema` is its schema. */
  readonly body?: Operation['body'];
  readonly bodySchema: OperationDocs['body'];
}

function documented<Id extends DocumentedOperation['id']>(
  rows: Readonly<Record<Id, Operation>>,
  docsOf: Readonly<Record<Id, OperationDocs>>,
): readonly DocumentedOperation[] {
  // The table's own keys are exactly the ids.
  return (Object.keys(rows) as Id[]).map((id) => {
    const { body: bodySchema, ...docs }: OperationDocs = docsOf[id];
    const row: Operation = rows[id];
    return { id, ...docs, ...row, bodySchema };
  });
}

export const DOCUMENTED = documented<OperationId>(OPERATIONS, DOCS);
export const DOCUMENTED_HUB = documented<HubOperationId>(HUB_OPERATIONS, HUB_DOCS);

/** Returns the path as the documents write it: the `*` of a row becomes a part with a name. */
export const templateOf = (path: string): string => path.replace(/\*$/, '{name}').replace('*', '{id}');
