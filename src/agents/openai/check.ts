/** Checks a file of OpenAI messages against the rules of a server, conversation by conversation. */
import { splitElements } from '../../lib/json/split-elements.ts'
import { type ByteLine, decodeLine, MAX_LINE_BYTES, splitLines } from '../../lib/lines.ts'
import { parseStructure } from '../../lib/unknown-values.ts'
import type { CheckFinding } from '../../model/check-finding.ts'
import { phrase } from '../../model/phrase.ts'
import type { ProblemCode } from '../../openai/check/problem.ts'
import { checkRecord } from '../../openai/files/check-file.ts'
import { detectFileLayout, type FileLayout } from '../../openai/files/file-layout.ts'
import { isMessageLike, SHAPE_TEXTS } from '../../openai/files/record-shape.ts'
import { PROFILES, type Profile } from '../../openai/profile.ts'
import type { CheckOptions } from '../agent.ts'
import { profileIn } from './write.ts'

export type OpenaiRule =
  | ProblemCode
  /** Each record is valid JSON. */
  | 'json'
  /** Each record is a conversation. */
  | 'conversation'

const HEAD_LENGTH = 65_536

/**
 * Holds one conversation at a time for files with lines or a list of conversations.
 * @param open called again if the first element of a list is a message
 */
export async function* check(
  open: () => AsyncIterable<Buffer>,
  options: CheckOptions = {},
): AsyncGenerator<CheckFinding<OpenaiRule>> {
  const profile = profileIn(options) ?? PROFILES.openai
  const layout = detectFileLayout(await readHeadText(open()))
  let isList = layout === 'list'
  if (isList) {
    for await (const elements of splitElements(open(), undefined)) {
      if (elements[0]?.number === 1 && isMessageLike(parseUnitValue(elements[0]))) {
        isList = false
        break
      }
      for (const element of elements) yield* checkUnit(element, 'list', profile)
    }
  } else if (layout === 'lines') {
    for await (const lines of splitLines(open())) for (const line of lines) yield* checkUnit(line, layout, profile)
  }
  if (!isList && layout !== 'lines') yield* checkUnit(await bufferDocument(open()), 'one', profile)
}

function* checkUnit(unit: ByteLine, layout: FileLayout, profile: Profile): Generator<CheckFinding<OpenaiRule>> {
  const place = layout === 'one' ? '' : layout === 'list' ? `element ${unit.number} ` : `line ${unit.number} `
  const value = parseUnitValue(unit)
  if (value === BLANK_UNIT) return
  if (value === undefined) {
    yield {
      rule: 'json',
      place: `${place}$`,
      what: phrase('It is not a JSON object or list.', 'JSON のオブジェクトでも一覧でもありません。'),
      severity: 'error',
    }
    return
  }
  const checked = checkRecord(value, layout === 'lines', profile)
  if (typeof checked === 'string')
    yield {
      rule: 'conversation',
      place: `${place}$`,
      what: phrase(
        `It contains no messages: ${SHAPE_TEXTS[checked].en}.`,
        `メッセージがありません（${SHAPE_TEXTS[checked].ja}）。`,
      ),
      severity: 'error',
    }
  else
    for (const { code, path, what, ja } of checked.problems)
      yield { rule: code, place: `${place}${path}`, what: phrase(what, ja?.what ?? what), severity: 'error' }
}

const BLANK_UNIT = Symbol('blank')

function parseUnitValue(unit: ByteLine): object | typeof BLANK_UNIT | undefined {
  if (!unit.bytes) return undefined
  const { text } = decodeLine({ number: unit.offset === 0 ? 1 : 2, utf8: unit.utf8 }, unit.bytes)
  return text.trim() === '' ? BLANK_UNIT : parseStructure(text)
}

async function readHeadText(chunks: AsyncIterable<Buffer>): Promise<string> {
  let head = ''
  for await (const chunk of chunks) {
    head += chunk.toString('utf8')
    if (head.length >= HEAD_LENGTH) break
  }
  return head.slice(0, HEAD_LENGTH).replace(/^\uFEFF/, '')
}

async function bufferDocument(chunks: AsyncIterable<Buffer>): Promise<ByteLine> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const chunk of chunks) {
    length += chunk.length
    if (length <= MAX_LINE_BYTES) pieces.push(Buffer.from(chunk))
  }
  const bytes = length <= MAX_LINE_BYTES ? Buffer.concat(pieces) : undefined
  return { number: 1, offset: 0, length, bytes, ended: true, utf8: false }
}
