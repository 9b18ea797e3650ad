/** A tool's result: what the model saw, and what the program noted about it. */
import { basename, dirname, join } from 'node:path'
import { readRegularFile } from '../../../lib/files/regular-file.ts'
import { isNonLinkFile, statOf } from '../../../lib/files/safe-fs.ts'
import { type Fields, fieldsOf, isObject, nonEmptyStringOf, stringOf, toJsonText } from '../../../lib/unknown-values.ts'
import { MAX_DURATION_MS, validExitCodeOf } from '../../../model/checked-numbers.ts'
import { type Metadata, metadataFromSource } from '../../../model/metadata.ts'
import type { Mutable, ToolCall } from '../../../model/normalized.ts'
import type { Source } from '../../agent.ts'
import { type MessageDraft, originalPathOf } from '../../kit/place-message.ts'
import { blocksOf, parseBlocks } from './content.ts'

/**
 * @param structured the program's own account of the result
 * @param call_id of the call, where the block does not name it
 */
export function resultDraft(block: Fields, structured: unknown, call_id: string | null, source: Source): MessageDraft {
  const twin = fieldsOf(structured)
  const blocks = blocksOf(block['content'])
  const shown = isObject(block['content']) ? toJsonText(block['content']) : outputText(blocks)
  const { output, path } = completeOutput(shown, twin, source)
  const isError = block['is_error'] === true || (block['is_error'] === undefined && twin?.['is_error'] === true)
  const tool_call: Mutable<ToolCall> = { call_id, name: null, status: isError ? 'error' : 'success', output }
  const exit_code = validExitCodeOf(twin?.['exitCode']) ?? (isError ? exitCodeIn(shown) : undefined)
  if (exit_code !== undefined) tool_call.exit_code = exit_code
  const duration_ms = durationIn(twin)
  if (duration_ms !== undefined) tool_call.duration_ms = duration_ms
  const { segments } = parseBlocks(
    blocks.filter((one) => fieldsOf(one)?.['type'] === 'image'),
    'output',
  )
  const kinds = blocks.map((one) => fieldsOf(one)?.['type'] ?? null)
  const metadata: Metadata = {
    ...(kinds.some((kind) => kind !== 'text') && { blocks: kinds }),
    ...(path !== undefined && { output_file: path }),
    ...(twin && notesOf(twin)),
    ...(typeof structured === 'string' && structured !== shown && { note: structured }),
  }
  return { role: 'tool', source_type: 'tool_result', payload_type: 'tool_result', segments, tool_call, metadata }
}

function outputText(blocks: readonly unknown[]): string {
  const texts = blocks.flatMap((block) => {
    const fields = fieldsOf(block)
    const text = stringOf(block) ?? stringOf(fields?.['text']) ?? stringOf(fields?.['tool_name'])
    return text ?? (fields && fields['type'] !== 'image' ? toJsonText(fields) : [])
  })
  return texts.join('\n')
}

const exitCodeIn = (output: string): number | undefined => {
  const code = /^(?:Error: )?Exit code (\d{1,5})\b/.exec(output)?.[1]
  return code === undefined ? undefined : Number(code)
}

function durationIn(twin: Fields | undefined): number | undefined {
  const ms = twin?.['durationMs'] ?? twin?.['totalDurationMs']
  return typeof ms === 'number' && ms >= 0 && ms <= MAX_DURATION_MS ? Math.round(ms) : undefined
}

/** Larger files are left to be opened by hand. */
const MAX_OUTPUT_FILE_BYTES = 16_000_000

const STUB = /^<persisted-output>[\s\S]*?(?:saved to|Full output):?\s*(\S[^\n]*)/

/**
 * A large output is stored beside the log, and the log holds its beginning. Only the log's own folder is read, and no
 * link in it: a log from elsewhere could bring one.
 */
function completeOutput(
  shown: string,
  twin: Fields | undefined,
  source: Source,
): { readonly output: string; readonly path?: string } {
  const named = nonEmptyStringOf(twin?.['persistedOutputPath']) ?? STUB.exec(shown)?.[1]?.trim()
  if (named === undefined) return { output: shown }
  const path = join(sideFolderOf(source), 'tool-results', basename(named.replaceAll('\\', '/')))
  const size = !source.bytes && isNonLinkFile(path) ? statOf(path)?.size : undefined
  if (size === undefined || size > MAX_OUTPUT_FILE_BYTES) return { output: shown, path: named }
  try {
    return { output: readRegularFile(path).toString('utf8'), path: named }
  } catch {
    return { output: shown, path: named }
  }
}

/** The folder of a session's side files. A sub-agent's log is in it. */
export function sideFolderOf(source: Pick<Source, 'path' | 'shown'>): string {
  const path = originalPathOf(source)
  const above = /^(.*)[\\/]subagents[\\/].*$/.exec(path)?.[1]
  return above ?? join(dirname(path), basename(path).replace(/\.jsonl$/i, ''))
}

/** Repeated by the result itself, by the call or by another file. */
const REPEATED_KEYS: ReadonlySet<string> = new Set([
  'content',
  'stdout',
  'stderr',
  'file',
  'originalFile',
  'originalFileContents',
  'oldString',
  'newString',
  'edits',
  'oldTodos',
  'newTodos',
  'prompt',
  'result',
  'usage',
  'is_error',
  'durationMs',
  'totalDurationMs',
  'exitCode',
])
const MAX_NOTE_LENGTH = 20_000

/** Patches, answers, plans, the id of a sub-agent: what the result's text does not say. */
function notesOf(twin: Fields): Metadata {
  const notes: { [key: string]: unknown } = {}
  for (const [key, value] of Object.entries(twin)) {
    if (REPEATED_KEYS.has(key) || value === null || value === '' || value === false) continue
    if (typeof value === 'object' ? toJsonText(value).length > MAX_NOTE_LENGTH : String(value).length > MAX_NOTE_LENGTH)
      continue
    notes[key] = value
  }
  // `type` is the record's.
  const { type, ...rest } = notes
  return metadataFromSource(type === undefined ? rest : { ...rest, result_type: type })
}
