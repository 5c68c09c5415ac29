/** The operations of processes. */
import { processDetailsPayload, processFeedback, processListPayload } from '../wire/process.ts';
import { processKillRequest, processListRequest } from '../wire/requests.ts';
import type { Operations } from './operation.ts';
import { PROCESS_NAME } from './parameters.ts';

export const PROCESS_OPERATIONS: Operations = {
  '/api/processes': {
    GET: {
      id: 'listProcesses',
      tag: 'processes',
      summary: 'The processes, by name or one by one',
      feature: 'enable_processes',
      query: processListRequest,
      payloads: [processListPayload],
      errors: ['invalid_value', 'not_possible_now', 'not_supported'],
    },
  },
  '/api/processes/*': {
    GET: {
      id: 'getProcess',
      tag: 'processes',
      summary: 'All processes of a name, or the one of a number',
      feature: 'enable_processes',
      parameters: [PROCESS_NAME],
      payloads: [processDetailsPayload],
      errors: ['invalid_value', 'process_not_found', 'not_possible_now', 'not_supported'],
    },
  },
  '/api/processes/kill': {
    POST: {
      id: 'killProcess',
      tag: 'processes',
      summary: 'End processes',
      description: 'Answered when they have ended.',
      feature: 'enable_process_control',
      body: processKillRequest,
      payloads: [processFeedback],
      errors: [
        'missing_field',
        'invalid_value',
        'process_not_found',
        'process_changed',
        'not_possible_now',
        'action_failed',
        'not_supported',
      ],
    },
  },
};
