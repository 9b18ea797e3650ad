/** What stands in a source: the record that a message was made of, or a line that could not be read. */
import type { SessionEntry } from '../../../app.ts'
import { type OpenFile, openFile } from '../../../lib/files/file-bytes.ts'
import { splitLines } from '../../../lib/lines.ts'
import { withYields } from '../../../lib/yield-loop.ts'
import type { LineItem, RawItem } from '../../../model/api/message.ts'
import { phrase } from '../../../model/phrase.ts'
import { extensionOf } from '../../../model/replay/extension.ts'
import { ApiProblem } from '../../api-problem.ts'
import type { ServerContext } from '../../context.ts'
import { maskRecord, maskText } from './mask-ciphertext.ts'

export const messageNotFound = ({ id }: SessionEntry, message: string): ApiProblem =>
  new ApiProblem(
    'message_not_found',
    phrase(`${id} has no message ${message}.`, `会話 ${id} にメッセージ ${message} はありません。`),
  )

/** The index knows a message, and its words cannot be read where they stood. */
export const sourceGoneProblem = (reason: string): ApiProblem =>
  new ApiProblem('source_gone', phrase(reason, `元のログを読めません（${reason}）。`))

/** The first message of a record has it; the others of the same line point there. */
export async function readRawItem({ app }: ServerContext, entry: SessionEntry, id: string): Promise<RawItem> {
  const [known] = app.index.messages(entry.id, { around: id, limit: 1 })
  if (known?.id !== id) throw messageNotFound(entry, id)
  const before = app.index.messages(entry.id, { before: id, limit: known.part })
  const sameLine = [...before.filter(({ line }) => line === known.line), known]
  const bodies = await app.messageStore.readMessages(sameLine.toReversed(), {
    includeSource: true,
  })
  const missing = bodies.find((body) => body.kind === 'gone')
  if (missing) throw sourceGoneProblem(missing.reason)
  const records = bodies.flatMap((body) =>
    body.kind === 'body' ? [extensionOf(body.message)?.records].filter((one) => one !== undefined) : [],
  )[0]
  const maskedContent = (records ?? []).map(maskRecord)
  return {
    session_id: entry.id,
    message_id: id,
    path: entry.path,
    row_key: entry.key ?? null,
    line: known.line,
    records: maskedContent.map(({ value }) => value),
    masked: maskedContent.reduce((sum, one) => sum + one.masked, 0),
  }
}

const MAX_LINE_LENGTH = 20_000

/** @param line from 1 */
export async function readLineItem(
  context: ServerContext,
  entry: SessionEntry,
  line: number,
  signal: AbortSignal,
): Promise<LineItem> {
  const [known] = context.app.index.messages(entry.id, { around: `#${line}.1`, limit: 1 })
  if (known?.line === line) {
    const { message_id: _, ...item } = await readRawItem(context, entry, known.id)
    if (item.records.length > 0) return { ...item, text: null, cut: false }
  }
  const bytes = /\.jsonl(?:\.zst)?$/.test(entry.path)
    ? await readLineBytes(await findLogPath(context, entry), line, signal)
    : undefined
  if (!bytes)
    throw new ApiProblem(
      'not_found',
      phrase(
        `Line ${line} cannot be shown: ${entry.path} is not kept in lines.`,
        `${line} 行目を表示できません。${entry.path} は行ごとのファイルではありません。`,
      ),
    )
  const item = { session_id: entry.id, path: entry.path, row_key: entry.key ?? null, line }
  const text = bytes.toString()
  const record = parseLine(text)
  if (record) {
    const { value, masked: count } = maskRecord(record.value)
    return { ...item, records: [value], masked: count, text: null, cut: false }
  }
  const maskedContent = maskText(text)
  return {
    ...item,
    records: [],
    masked: maskedContent.masked,
    text: maskedContent.value.slice(0, MAX_LINE_LENGTH),
    cut: maskedContent.value.length > MAX_LINE_LENGTH,
  }
}

/** Where the session is read: a copy that was kept, when another file took its place. */
async function findLogPath({ app }: ServerContext, { id, path }: SessionEntry): Promise<string> {
  const log = await app.logOf(id)
  if (!log)
    throw new ApiProblem(
      'source_gone',
      phrase(`${path} is gone, and no copy was kept.`, `${path} はなくなり、写しもありません。`),
    )
  return log.source.path
}

async function readLineBytes(path: string, wanted: number, signal: AbortSignal): Promise<Buffer | undefined> {
  const file = openLog(path)
  try {
    for await (const batch of withYields(splitLines(file.chunks(0)))) {
      const found = batch.find(({ number }) => number === wanted)
      if (found) return found.bytes && Buffer.from(found.bytes)
      if (signal.aborted) return undefined
    }
    return undefined
  } finally {
    file.close()
  }
}

function openLog(path: string): OpenFile {
  try {
    return openFile(path)
  } catch {
    throw new ApiProblem('source_gone', phrase(`${path} cannot be opened.`, `${path} を開けません。`))
  }
}

function parseLine(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}
