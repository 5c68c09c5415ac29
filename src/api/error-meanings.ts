/** The meaning of each error code, for docs/api.md. */
import type { ErrorCode } from '../errors.ts';

export const ERROR_MEANINGS: Readonly<Record<ErrorCode, string>> = {
  invalid_json: 'The body is not JSON.',
  invalid_body: 'The body is JSON, but not an object.',
  missing_field: 'A required field is missing.',
  invalid_value: 'A field or parameter has the wrong type, or is out of range.',
  unknown_action: 'Unknown action; `details.allowed` lists the known ones.',
  bad_request: 'The request itself is malformed: its method, framing or `Host`.',
  feature_disabled: 'Disabled by its feature flag.',
  command_not_allowed: 'Only a hub: its `hub.commands` does not allow this client to do this there.',
  scope_required:
    'The key, or `auth.guests` without one, does not allow this. `X-Required-Scope` has the missing scope.',
  not_found: 'Unknown path, or the track has no picture on this machine.',
  process_not_found: 'No process with this name or pid.',
  player_not_found: 'No player with this name.',
  method_not_allowed: '`Allow` lists the methods of this path.',
  power_pending: 'A power action is already scheduled; cancel it first.',
  process_changed: 'The pid now belongs to another process: `started_at` differs.',
  not_possible_now: 'Temporarily not possible; `error` gives the reason.',
  payload_too_large:
    'The body exceeds 16 KiB (1 MiB where it is ignored). From a hub also: the answer of a machine behind a broker is too long.',
  unsupported_media_type: 'The content type is not `application/json`.',
  upgrade_required: '`/api/ws` accepts WebSocket upgrades only.',
  too_many_requests:
    '`server.max_requests_per_address` requests from this address are pending; `Retry-After` says when to try again.',
  internal_error: "A bug or a broken machine; the service's log has the details.",
  action_failed: 'It was tried and failed; `details.reason` says why.',
  not_supported: 'This machine cannot do it, and nothing was tried; `details.reason` says why.',
  too_many_streams:
    '`server.max_streams` or `server.max_streams_per_address` is reached; `Retry-After` says when to try again.',
  too_many_connections:
    'This address has the maximum number of connections, `server.max_connections_per_address`. The answer is sent on accepting the connection, which is then closed. `Retry-After` says when to try again.',
  host_unreachable:
    'Only a hub: the machine is unreachable, or refuses the hub; `details` has its state and the reason.',
  shutting_down: 'The service is stopping.',
  outcome_unknown:
    'Only a hub: the command was sent, but no answer arrived. Whether it was carried out is unknown; it is not sent again.',
};
