/** Documents, for the hub, the operations of one machine that its own service answers. */
import type { ErrorCode } from '../errors.ts';
import { HISTORY_DOCS } from './history.ts';
import type { HubOperationId } from './hub-operations.ts';
import { MEDIA_DOCS } from './media.ts';
import type { OperationDocs } from './operation-docs.ts';
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

/** For an answer that may be long. */
const readLong = (docs: OperationDocs, limit = '512 KiB') =>
  ofHost(
    docs,
    ['payload_too_large'],
    `The answer of the machine, whose own flags decide. One of more than ${limit} does not pass through a broker: 413 \`payload_too_large\`.`,
  );

const command = (docs: OperationDocs) =>
  ofHost(
    docs,
    ['outcome_unknown'],
    "The client must be allowed to by `hub.commands` (403 `command_not_allowed`), and the action by the machine's own flags. It is sent once, and not begun later than 5 seconds after the request: 503 `host_unreachable` means that it was not done, 504 `outcome_unknown` that this is unknown.",
  );

export const FORWARDED_DOCS = {
  getHostHistory: readLong(HISTORY_DOCS.getHistory),
  getHostProcessHistory: readLong(HISTORY_DOCS.getProcessHistory),
  getHostPower: read(POWER_DOCS.getPower),
  shutdownHost: command(POWER_DOCS.shutdown),
  restartHost: command(POWER_DOCS.restart),
  sleepHost: command(POWER_DOCS.sleep),
  hibernateHost: command(POWER_DOCS.hibernate),
  lockHost: command(POWER_DOCS.lock),
  cancelHostPower: command(POWER_DOCS.cancelPower),
  wakeFromHost: command(WAKE_DOCS.wake),
  getHostMedia: read(MEDIA_DOCS.getMedia),
  getHostMediaArt: readLong(MEDIA_DOCS.getMediaArt, '780,000 bytes'),
  controlHostMedia: command(MEDIA_DOCS.controlMedia),
  listHostProcesses: readLong(PROCESS_DOCS.listProcesses),
  getHostProcess: read(PROCESS_DOCS.getProcess),
  killHostProcess: command(PROCESS_DOCS.killProcess),
  launchHostProcess: command(PROCESS_DOCS.launchProcess),
} satisfies Readonly<Partial<Record<HubOperationId, OperationDocs>>>;
