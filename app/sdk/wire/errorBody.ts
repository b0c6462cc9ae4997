/** The body of every error. */
import * as z from 'zod';
import { ERROR_CODES, ERRORS, type ErrorCode } from './errorCodes.ts';

/** The body of every error. `execution_id` is null without an execution, `details` without details. */
export const ErrorBody = z.strictObject({
  error: z.strictObject({
    code: z.enum(ERROR_CODES),
    message: z.string(),
    execution_id: z.string().nullable(),
    details: z.record(z.string(), z.unknown()).nullable(),
  }),
});
export type ErrorBody = z.infer<typeof ErrorBody>;

const bodies = new Map<ErrorCode, z.ZodType<ErrorBody>>();

/** The body of errors with this code, with its `details` from the table. */
export function errorBodyOf(code: ErrorCode): z.ZodType<ErrorBody> {
  const known = bodies.get(code);
  if (known) return known;
  const { message, execution_id } = ErrorBody.shape.error.shape;
  const schema = z.strictObject({
    error: z.strictObject({ code: z.literal(code), message, execution_id, details: ERRORS[code].details }),
  }) as unknown as z.ZodType<ErrorBody>;
  bodies.set(code, schema);
  return schema;
}
