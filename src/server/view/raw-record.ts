/** Raw records of a source: those of a message, or a line that could not be read. Ciphertext is replaced by its hash and length. */
import type { SessionEntry } from '../../app.ts'
import { type OpenFile, openFile } from '../../lib/files/file-bytes.ts'
import { sha256 } from '../../lib/hash.ts'
import { type JsonValue, plainJson } from '../../lib/json/lossless.ts'
import { splitLines } from '../../lib/lines.ts'
import { isObject } from '../../lib/unknown-values.ts'
import { withYields } from '../../lib/yield-loop.ts'
import type { LineItem, RawItem } from '../../model/api/message.ts'
import { phrase } from '../../model/phrase.ts'
import { extensionOf } from '../../model/replay/extension.ts'
import { ApiProblem } from '../api-problem.ts'
import type { ServerContext } from '../context.ts'

export const messageNotFound = ({ id }: SessionEntry, message: string): ApiProblem =>
  new ApiProblem(
    'message_not_found',
    phrase(`Session ${id} has no message ${message}.`, `会話 ${id} にメッセージ ${message} はありません。`),
  )

export const sourceGoneProblem = (reason: string): ApiProblem =>
  new ApiProblem('source_gone', phrase(reason, `元のログを読めません（${reason}）。`))

/** Only the first message of a line holds its records. */
export async function readRawItem({ app }: ServerContext, entry: SessionEntry, id: string): Promise<RawItem> {
  const [known] = app.index.messages(entry.id, { around: id, limit: 1 })
  if (known?.id !== id) throw messageNotFound(entry, id)
  const before = app.index.messages(entry.id, { before: id, limit: known.part })
  const sameLine = [...before.filter(({ line }) => line === known.line), known]
  const bodies = await app.messageStore.readMessages(sameLine.toReversed(), { includeSource: true })
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

/** @param line 1-based */
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
        `Line ${line} is not available: ${entry.path} is not a file of lines.`,
        `${line} 行目を表示できません。${entry.path} は行ごとのファイルではありません。`,
      ),
    )
  const item = { session_id: entry.id, path: entry.path, row_key: entry.key ?? null, line }
  const content = bytes.toString()
  const record = parseLine(content)
  if (record) {
    const { value, masked } = maskRecord(record.value)
    return { ...item, records: [value], masked, text: null, cut: false }
  }
  const { value: text, masked } = maskText(content)
  return { ...item, records: [], masked, text: text.slice(0, MAX_LINE_LENGTH), cut: text.length > MAX_LINE_LENGTH }
}

/** The file that the session is read from: a backup if another file replaced the original. */
async function findLogPath({ app }: ServerContext, { id, path }: SessionEntry): Promise<string> {
  const log = await app.logOf(id)
  if (!log)
    throw new ApiProblem(
      'source_gone',
      phrase(`${path} is gone. No backup exists.`, `${path} はなくなり、バックアップもありません。`),
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
    throw new ApiProblem(
      'source_gone',
      phrase(`Cannot open ${path}. Check its permissions.`, `${path} を開けません。アクセス権を確認してください。`),
    )
  }
}

function parseLine(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}

const SECRET_KEYS: ReadonlySet<string> = new Set(['encrypted_content', 'encrypted_function_args'])

interface MaskResult<Value = unknown> {
  readonly value: Value
  readonly masked: number
}

/** Deeper values are not shown. */
const MAX_DEPTH = 200

function maskRecord(value: unknown): MaskResult {
  let count = 0
  const hash = (secret: unknown): unknown => {
    if (typeof secret === 'string') {
      count++
      return { sha256: sha256(secret), bytes: Buffer.byteLength(secret) }
    }
    if (Array.isArray(secret)) return secret.map(hash)
    if (isObject(secret)) return hash(JSON.stringify(secret))
    return secret
  }
  const mask = (one: unknown, depth: number): unknown => {
    if (typeof one !== 'object' || one === null) return one
    if (depth > MAX_DEPTH) return null
    if (Array.isArray(one)) return one.map((inner) => mask(inner, depth + 1))
    const fields = one as Record<string, unknown>
    const isSealed = fields['type'] === 'redacted_thinking'
    return Object.fromEntries(
      Object.entries(fields).map(([key, inner]) => [
        key,
        SECRET_KEYS.has(key) || (isSealed && key === 'data') ? hash(inner) : mask(inner, depth + 1),
      ]),
    )
  }
  return { value: mask(plainJson(value as JsonValue), 0), masked: count }
}

/** A ciphertext key with its value, or a run of letters that only ciphertext and images contain. */
const CIPHERTEXT_PATTERN = new RegExp(
  `((?:${[...SECRET_KEYS].join('|')})\\\\*"\\s*:\\s*\\\\*")([^"\\\\]+)|([A-Za-z0-9+/_=-]{200,})`,
  'g',
)

/** For text that is not JSON, where ciphertext has no clear bounds. */
function maskText(text: string): MaskResult<string> {
  let count = 0
  const value = text.replaceAll(
    CIPHERTEXT_PATTERN,
    (_, before: string | undefined, named: string | undefined, long = '') => {
      count++
      const secret = named ?? long
      return `${before ?? ''}[sha256 ${sha256(secret)}, ${Buffer.byteLength(secret)} bytes]`
    },
  )
  return { value, masked: count }
}
