/** The contract of a tool: name and schema for the model, and how calls are checked, permitted and run. */
import type { ImageBlock, ToolUseResultBlock } from '../../conversation/message.ts'
import type { ToolOrigin } from '../../conversation/record.ts'
import { type FieldFault, FieldReader } from '../../lib/json/field-reader.ts'
import { type JsonValue, plainJson } from '../../lib/json/lossless.ts'
import type { Phrase } from '../../model/phrase.ts'
import type { Usage } from '../../model/usage.ts'

export interface ChatTool {
  readonly name: string
  /** The original name. Differs from `name` if there is an alias, or if the model does not accept the name. */
  readonly hostName: string
  /** `native___`, or the name of the MCP server. */
  readonly origin: ToolOrigin
  readonly description: string
  /** JSON Schema of its arguments. */
  readonly schema: JsonValue
  /** Changes nothing, so it needs permission only outside the directory. */
  readonly onlyReads?: true
  /** Checks the arguments and the files they name. Changes nothing, never rejects. */
  check(args: JsonValue, workspace: Workspace): Promise<CheckedCall>
}

export interface Workspace {
  /** Absolute. */
  readonly cwd: string
  readonly home: string
}

export type CheckedCall =
  | { readonly ok: true; readonly call: ChatToolCall }
  /** Sent to the model as an Error result. */
  | { readonly ok: false; readonly error: string }

export interface ChatToolCall {
  readonly need: CallNeed
  /** Never rejects: failures are Error results. Returns soon after an abort and kills everything it started. */
  run(context: ToolRunContext): Promise<ToolRunResult>
}

export interface CallNeed {
  /** `nothing`: no access at all. `dangerous`: may destroy something, or its effect cannot be determined in advance. */
  readonly level: 'nothing' | 'read-only' | 'changes' | 'dangerous'
  readonly summary: Phrase
  /** Why it is dangerous or will fail. */
  readonly reason?: Phrase
  /** The change as a unified diff. */
  readonly diff?: string
  /** Files and folders, as named and with links resolved. */
  readonly paths?: readonly ResolvedPath[]
  readonly command?: string
  /** The purpose, as stated by the model. */
  readonly purpose?: string
  readonly args?: string
  /** The file has changed since the model last read or wrote it. */
  readonly stale?: StaleFile
}

/** @param purpose as stated by the model */
export const withPurpose = ({ en, ja }: Phrase, purpose: string | null): Phrase =>
  purpose === null ? { en, ja } : { en: `${en}: ${purpose}`, ja: `${ja}：${purpose}` }

export const purposeOf = (purpose: string | null): Pick<CallNeed, 'purpose'> => (purpose === null ? {} : { purpose })

export const isHarmless = ({ level }: Pick<CallNeed, 'level'>): boolean => level === 'nothing' || level === 'read-only'

export interface ResolvedPath {
  /** Absolute, links not resolved. */
  readonly named: string
  /** Absolute, with links resolved as far as the path exists. */
  readonly real: string
}

interface StaleFile {
  readonly path: string
  /** Changes by others; empty if unknown. */
  readonly diff: string
}

export interface ToolRunContext extends Workspace {
  readonly signal: AbortSignal
  /** Id of the tool use. */
  readonly callId?: string
  /** Called with the tokens of requests that the tool sends itself. */
  readonly onUsage?: (usage: Usage, isEstimated: boolean) => void
  /** Called with pieces of output while the tool runs. */
  readonly onOutput?: (piece: OutputPiece) => void
  /** Denied paths, which tools that search many files must skip. */
  readonly isDenied?: (path: string) => boolean
  /** The user knows that the file has changed and still allows the call. */
  readonly staleAllowed?: boolean
}

export interface OutputPiece {
  readonly stream: 'stdout' | 'stderr'
  readonly text: string
}

export interface ToolRunResult {
  readonly status: 'Success' | 'Error'
  readonly content: readonly ToolUseResultBlock[]
  /** Sent in the message with the result. */
  readonly images: readonly ImageBlock[]
  /** Files that the tool itself wrote. A command may have changed others. */
  readonly changedFiles: readonly ChangedFile[]
  /** A message for the user. The model gets its own text in the content. */
  readonly notice?: Phrase
}

interface ChangedFile {
  readonly path: string
  readonly before: string
  readonly after: string
}

export const successResult = (
  content: readonly ToolUseResultBlock[],
  more: Partial<ToolRunResult> = {},
): ToolRunResult => ({
  status: 'Success',
  content,
  images: [],
  changedFiles: [],
  ...more,
})

export const errorResult = (text: string): ToolRunResult => ({
  status: 'Error',
  content: [{ Text: text }],
  images: [],
  changedFiles: [],
})

export const refuseCall = (error: string): CheckedCall => ({ ok: false, error })

/** Reads the arguments, and rejects the call with all errors found. */
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
