/** The arguments of a call, as a model wrote them. */
import { type Fault, FieldReader } from '../../lib/json/fields.ts'
import { type JsonValue, plainJson } from '../../lib/json/lossless.ts'
import { type Checked, refused, type ToolCall } from './tool.ts'

/** Reads them, and refuses the call with every fault that was found. */
export async function checked(
  args: JsonValue,
  read: (reader: FieldReader) => ToolCall | string | Promise<ToolCall | string>,
): Promise<Checked> {
  const faults: Fault[] = []
  const reader = new FieldReader(plainJson(args), '', faults)
  const call = await read(reader)
  if (faults.length > 0)
    return refused(
      `The arguments are wrong: ${faults.map(({ path, reason }) => `${path} ${reason}`.trim()).join('; ')}.`,
    )
  return typeof call === 'string' ? refused(call) : { ok: true, call }
}
