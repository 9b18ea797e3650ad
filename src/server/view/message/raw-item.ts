/** What stands in a source: the record that a message was made of, or a line that could not be read. */
import type { Entry } from '../../../app.ts'
import { type OpenFile, openFile } from '../../../lib/bytes.ts'
import { breathing } from '../../../lib/disk/breathing.ts'
import { splitLines } from '../../../lib/jsonl.ts'
import type { LineItem, RawItem } from '../../../model/api/message.ts'
import { phrase } from '../../../model/phrase.ts'
import { extensionOf } from '../../../model/replay/extension.ts'
import type { HouseView } from '../../house-view.ts'
import { ApiProblem } from '../../problem.ts'
import { masked, maskedText } from './records.ts'

export const noMessage = ({ id }: Entry, message: string): ApiProblem =>
  new ApiProblem(
    'message_not_found',
    phrase(`${id} has no message ${message}.`, `会話 ${id} にメッセージ ${message} はありません。`),
  )

/** The index knows a message, and its words cannot be read where they stood. */
export const sourceGone = (reason: string): ApiProblem =>
  new ApiProblem('source_gone', phrase(reason, `元のログを読めません（${reason}）。`))

/** The first message of a record has it; the others of the same line point there. */
export async function rawItem({ house }: HouseView, entry: Entry, id: string): Promise<RawItem> {
  const [known] = house.index.messages(entry.id, { around: id, limit: 1 })
  if (known?.id !== id) throw noMessage(entry, id)
  const before = house.index.messages(entry.id, { before: id, limit: known.part })
  const sameLine = [...before.filter(({ line }) => line === known.line), known]
  const bodies = await (await house.reading()).bodies(entry.id, sameLine.toReversed(), { includeSource: true })
  const gone = bodies.find((body) => body.kind === 'gone')
  if (gone) throw sourceGone(gone.reason)
  const records = bodies.flatMap((body) =>
    body.kind === 'body' ? [extensionOf(body.message)?.records].filter((one) => one !== undefined) : [],
  )[0]
  const shown = (records ?? []).map(masked)
  return {
    session_id: entry.id,
    message_id: id,
    path: entry.path,
    row_key: entry.key ?? null,
    line: known.line,
    records: shown.map(({ value }) => value),
    masked: shown.reduce((sum, one) => sum + one.masked, 0),
  }
}

const LONGEST = 20_000

/** @param line from 1 */
export async function lineItem(view: HouseView, entry: Entry, line: number, signal: AbortSignal): Promise<LineItem> {
  const [known] = view.house.index.messages(entry.id, { around: `#${line}.1`, limit: 1 })
  if (known?.line === line) {
    const { message_id: _, ...item } = await rawItem(view, entry, known.id)
    if (item.records.length > 0) return { ...item, text: null, cut: false }
  }
  const bytes = /\.jsonl(?:\.zst)?$/.test(entry.path)
    ? await bytesOf(await pathOf(view, entry), line, signal)
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
  const record = parsed(text)
  if (record) {
    const { value, masked: count } = masked(record.value)
    return { ...item, records: [value], masked: count, text: null, cut: false }
  }
  const shown = maskedText(text)
  return {
    ...item,
    records: [],
    masked: shown.masked,
    text: shown.value.slice(0, LONGEST),
    cut: shown.value.length > LONGEST,
  }
}

/** Where the session is read: a copy that was kept, when another file took its place. */
async function pathOf({ house }: HouseView, { id, path }: Entry): Promise<string> {
  const log = await house.logOf(id)
  if (!log)
    throw new ApiProblem(
      'source_gone',
      phrase(`${path} is gone, and no copy was kept.`, `${path} はなくなり、写しもありません。`),
    )
  return log.source.path
}

async function bytesOf(path: string, wanted: number, signal: AbortSignal): Promise<Buffer | undefined> {
  const file = opened(path)
  try {
    for await (const batch of breathing(splitLines(file.chunks(0)))) {
      const found = batch.find(({ number }) => number === wanted)
      if (found) return found.bytes && Buffer.from(found.bytes)
      if (signal.aborted) return undefined
    }
    return undefined
  } finally {
    file.close()
  }
}

function opened(path: string): OpenFile {
  try {
    return openFile(path)
  } catch {
    throw new ApiProblem('source_gone', phrase(`${path} cannot be opened.`, `${path} を開けません。`))
  }
}

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}
