/** The error that clients see: a code from one list, and its HTTP status. */

/** All codes, with their statuses; the API documents name no other. */
export const STATUS_BY_CODE = {
  invalid_json: 400,
  invalid_body: 400,
  missing_field: 400,
  invalid_value: 400,
  unknown_action: 400,
  bad_request: 400,
  feature_disabled: 403,
  command_not_allowed: 403,
  scope_required: 403,
  not_found: 404,
  process_not_found: 404,
  player_not_found: 404,
  method_not_allowed: 405,
  power_pending: 409,
  process_changed: 409,
  not_possible_now: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  upgrade_required: 426,
  too_many_requests: 429,
  internal_error: 500,
  action_failed: 500,
  not_supported: 501,
  too_many_streams: 503,
  too_many_connections: 503,
  host_unreachable: 503,
  shutting_down: 503,
  outcome_unknown: 504,
} as const;

export type ErrorCode = keyof typeof STATUS_BY_CODE;

export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  /** `message`: a sentence for people, without a stack or a secret. */
  constructor(code: ErrorCode, message: string, details?: Readonly<Record<string, unknown>>) {
    super(message);
    this.name = 'ServiceError';
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return STATUS_BY_CODE[this.code];
  }
}

/** The error for a feature that the configuration switches off. `name`: what was asked for. */
export const featureDisabled = (name: string): ServiceError =>
  new ServiceError('feature_disabled', `${name} is disabled in the configuration.`);

/** The error for a client that may not do something; see scopes.ts. `subject`: what lacks the scope. */
export const scopeRequired = (scope: string, subject = 'This'): ServiceError =>
  new ServiceError('scope_required', `${subject} needs the scope ${scope}.`, { scope });

/** The code of a system error, such as `ENOENT`. */
export function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'unknown error';
}

/** The message of anything that was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The stack of an unexpected error, for the log. */
export const stackOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
