import type { ErrorBody, ErrorCode } from './types';

/** An error as the state classes throw and keep it. */
export class BackendError extends Error {
  readonly body: ErrorBody;

  constructor(body: ErrorBody) {
    super(body.message);
    this.name = 'BackendError';
    this.body = body;
  }
}

/** Makes an error with the given code; for the in-memory backend and for tests. */
export function failure(
  code: ErrorCode,
  message: string,
  details: Record<string, string> = {},
): BackendError {
  return new BackendError({ code, message, details });
}

function isErrorBody(value: unknown): value is ErrorBody {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as ErrorBody).code === 'string' &&
    typeof (value as ErrorBody).message === 'string'
  );
}

/** The error body behind anything that was thrown; what has no code is a defect of ours. */
export function errorBody(thrown: unknown): ErrorBody {
  if (thrown instanceof BackendError) return thrown.body;
  if (isErrorBody(thrown)) return { ...thrown, details: thrown.details ?? {} };
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { code: 'internal', message, details: {} };
}
