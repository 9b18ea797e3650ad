/** The contract of a tool: name and schema for the model; calls that are checked, decided about and run. */
import type { ImageBlock, ToolUseResultBlock } from '../../conversation/message.ts'
import type { ToolOrigin } from '../../conversation/record.ts'
import { type FieldFault, FieldReader } from '../../lib/json/field-reader.ts'
import { type JsonValue, plainJson } from '../../lib/json/lossless.ts'
import type { Phrase } from '../../model/phrase.ts'

export interface ChatTool {
  readonly name: string
  /** What its origin calls it: the same, unless it has an alias or had to be spelled otherwise. */
  readonly hostName: string
  /** `native___`, or the name of the MCP server. */
  readonly origin: ToolOrigin
  readonly description: string
  /** JSON schema of its arguments. */
  readonly schema: JsonValue
  /** Changes nothing; asks only outside the directory. */
  readonly onlyReads?: true
  /** Checks the arguments and the files that they name. Changes nothing, never rejects. */
  check(args: JsonValue, workspace: Workspace): Promise<CheckedCall>
}

export interface Workspace {
  /** Absolute. */
  readonly cwd: string
  readonly home: string
}

export type CheckedCall =
  | { readonly ok: true; readonly call: ChatToolCall }
  /** Told to the model as an Error result. */
  | { readonly ok: false; readonly error: string }

export interface ChatToolCall {
  readonly need: CallNeed
  /** Never rejects: failures are Error results. Returns soon after an abort, with everything that it started ended. */
  run(context: ToolRunContext): Promise<ToolRunResult>
}

export interface CallNeed {
  /** Nothing: it looks at nothing and changes nothing. Dangerous: it can destroy something, or cannot be told in advance what it does. */
  readonly level: 'nothing' | 'read-only' | 'changes' | 'dangerous'
  readonly summary: Phrase
  /** Why it is dangerous, or will not succeed. */
  readonly reason?: Phrase
  /** What it would change, as a unified diff. */
  readonly diff?: string
  /** Files and folders, as they were named and as they are once links are followed. */
  readonly paths?: readonly ResolvedPath[]
  readonly command?: string
  /** What the model says that it is for. */
  readonly purpose?: string
  readonly args?: string
  /** The file was changed since the model last read or wrote it: by somebody else, or by a command. */
  readonly stale?: StaleFile
}

/** @param purpose what the model says that it is for */
export const withPurpose = ({ en, ja }: Phrase, purpose: string | null): Phrase =>
  purpose === null ? { en, ja } : { en: `${en}: ${purpose}`, ja: `${ja}：${purpose}` }

export const purposeOf = (purpose: string | null): Pick<CallNeed, 'purpose'> => (purpose === null ? {} : { purpose })

export const isHarmless = ({ level }: Pick<CallNeed, 'level'>): boolean => level === 'nothing' || level === 'read-only'

export interface ResolvedPath {
  /** Absolute, as it was named. */
  readonly named: string
  /** Absolute, with all links followed as far as it exists. */
  readonly real: string
}

interface StaleFile {
  readonly path: string
  /** Changes by others; empty if unknown. */
  readonly diff: string
}

export interface ToolRunContext extends Workspace {
  readonly signal: AbortSignal
  /** A piece of output while it comes, for whoever watches. */
  readonly onOutput?: (piece: OutputPiece) => void
  /** Paths that are denied: a tool that looks into many files passes them over. */
  readonly isDenied?: (path: string) => boolean
  /** The user saw that others changed the file, and wants the call anyway. */
  readonly staleAllowed?: boolean
}

export interface OutputPiece {
  readonly stream: 'stdout' | 'stderr'
  readonly text: string
}

export interface ToolRunResult {
  readonly status: 'Success' | 'Error'
  readonly content: readonly ToolUseResultBlock[]
  /** For the message that takes the result to the model. */
  readonly images: readonly ImageBlock[]
  /** Files that it wrote itself; a command may have changed others. */
  readonly changedFiles: readonly ChangedFile[]
  /** What a person should know about it; the model has its own words in the content. */
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
