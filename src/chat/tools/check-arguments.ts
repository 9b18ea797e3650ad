/** The arguments of a call, as a model wrote them. */
import { type FieldFault, FieldReader } from '../../lib/json/field-reader.ts'
import { type JsonValue, plainJson } from '../../lib/json/lossless.ts'
import { type ChatToolCall, type CheckedCall, refuseCall } from './tool.ts'

/** Reads them, and refuses the call with every fault that was found. */
export async function checkArguments(
  args: JsonValue,
  read: (reader: FieldReader) => ChatToolCall | string | Promise<ChatToolCall | string>,
): Promise<CheckedCall> {
  const faults: FieldFault[] = []
  const reader = new FieldReader(plainJson(args), '', faults)
  const call = await read(reader)
  if (faults.length > 0)
    return refuseCall(
      `The arguments are wrong: ${faults.map(({ path, reason }) => `${path} ${reason}`.trim()).join('; ')}.`,
    )
  return typeof call === 'string' ? refuseCall(call) : { ok: true, call }
}
