/** The meaning of each error code, for docs/api.md. */
import type { ErrorCode } from '../errors.ts';

export const ERROR_MEANINGS: Readonly<Record<ErrorCode, string>> = {
  invalid_json: 'The body is not JSON.',
  invalid_body: 'The body is JSON, but not an object.',
  missing_field: 'A required field is missing.',
  invalid_value: 'A field or parameter has the wrong type, or is out of range.',
  unknown_action: 'Unknown action; `details.allowed` lists the known ones.',
  bad_request: 'The request itself is malformed: its method, framing or `Host`.',
  feature_disabled:
    'Its flag in the configuration is off. The answer has no body; `X-Error-Code` has the code.',
  command_not_allowed:
    'Only a hub: its `hub.commands` does not allow this client to do that there. There is no body: `X-Error-Code` has the code.',
  scope_required:
    'The key, or `auth.guests` without one, does not allow that. The answer has no body; `X-Error-Code` has the code, `X-Required-Scope` the scope that is needed.',
  not_found: 'Nothing is at this path, or the track has no picture here.',
  process_not_found: 'No process has that name or pid.',
  player_not_found: 'No player has that name.',
  method_not_allowed: '`Allow` lists the methods of this path.',
  power_pending: 'A power action is already scheduled; cancel it first.',
  process_changed: 'Another process has that pid now: `started_at` differs.',
  not_possible_now: 'Something prevents it at the moment; the sentence says what.',
  payload_too_large:
    'The body exceeds 16 KiB (1 MiB where it is ignored). Of a hub also: the answer of a machine behind a broker is too long.',
  unsupported_media_type: 'The content type is not `application/json`.',
  upgrade_required: '`/api/ws` accepts WebSocket upgrades only.',
  too_many_requests:
    '`server.max_requests_per_address` requests of this address still wait for their answer; `Retry-After` says when to try again.',
  internal_error: 'A bug or a broken machine; the log of the service has the details.',
  action_failed: 'It was tried and failed; `details.reason` says why.',
  not_supported: 'This machine cannot do it, and nothing was tried; `details.reason` says why.',
  too_many_streams:
    '`server.max_streams` or `server.max_streams_per_address` is reached; `Retry-After` says when to try again.',
  too_many_connections:
    'This address has as many connections as `server.max_connections_per_address` allows. The answer is sent as soon as the connection is accepted, which is closed then. `Retry-After` says when to try again.',
  host_unreachable:
    'Only a hub: it cannot reach that machine, or is refused there; `details` has its state and the reason.',
  shutting_down: 'The service is stopping.',
  outcome_unknown:
    'Only a hub: the command was sent, and no answer arrived. It is unknown whether it was carried out; it is not sent again.',
};
