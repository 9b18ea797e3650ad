/** Checks a file of OpenAI messages against what a server takes, conversation by conversation. */
import { splitElements } from '../../lib/json/elements.ts'
import { decode, type Line, LONGEST_LINE, splitLines } from '../../lib/jsonl.ts'
import { parseStructure } from '../../lib/object.ts'
import { phrase } from '../../model/phrase.ts'
import type { ProblemCode } from '../../openai/check/problem.ts'
import { checkRecord } from '../../openai/files/check.ts'
import { type Layout, layoutOf } from '../../openai/files/layout.ts'
import { isMessage, REASONS } from '../../openai/files/shape.ts'
import type { Profile, ProfileName } from '../../openai/profile.ts'
import type { Finding } from './finding.ts'

export type OpenaiRule =
  | ProblemCode
  /** Each record is JSON. */
  | 'json'
  /** Each record is a conversation. */
  | 'conversation'

const HEAD = 65_536

/**
 * Holds one conversation at a time, where the file has lines or a list of them.
 * @param open gives the bytes from the beginning; a list whose first element turns out to be a message is read again
 */
export async function* checkOpenai(
  open: () => AsyncIterable<Buffer>,
  profile: ProfileName | Profile = 'openai',
): AsyncGenerator<Finding<OpenaiRule>> {
  const layout = layoutOf(await headOf(open()))
  let isList = layout === 'list'
  if (isList) {
    for await (const elements of splitElements(open(), undefined)) {
      if (elements[0]?.number === 1 && isMessage(valueIn(elements[0]))) {
        isList = false
        break
      }
      for (const element of elements) yield* findingsIn(element, 'list', profile)
    }
  } else if (layout === 'lines') {
    for await (const lines of splitLines(open())) for (const line of lines) yield* findingsIn(line, layout, profile)
  }
  if (!isList && layout !== 'lines') yield* findingsIn(await wholeOf(open()), 'one', profile)
}

function* findingsIn(unit: Line, layout: Layout, profile: ProfileName | Profile): Generator<Finding<OpenaiRule>> {
  const place = layout === 'one' ? '' : layout === 'list' ? `element ${unit.number} ` : `line ${unit.number} `
  const value = valueIn(unit)
  if (value === BLANK) return
  if (value === undefined) {
    yield {
      rule: 'json',
      place: `${place}$`,
      what: phrase('It is no JSON object or list.', 'JSON のオブジェクトでも一覧でもありません。'),
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
        `It holds no messages: ${REASONS[checked].en}.`,
        `メッセージがありません（${REASONS[checked].ja}）。`,
      ),
      severity: 'error',
    }
  else
    for (const { code, path, what, ja } of checked.problems)
      yield { rule: code, place: `${place}${path}`, what: phrase(what, ja?.what ?? what), severity: 'error' }
}

const BLANK = Symbol('blank')

function valueIn(unit: Line): object | typeof BLANK | undefined {
  if (!unit.bytes) return undefined
  const { text } = decode({ number: unit.offset === 0 ? 1 : 2, utf8: unit.utf8 }, unit.bytes)
  return text.trim() === '' ? BLANK : parseStructure(text)
}

async function headOf(chunks: AsyncIterable<Buffer>): Promise<string> {
  let head = ''
  for await (const chunk of chunks) {
    head += chunk.toString('utf8')
    if (head.length >= HEAD) break
  }
  return head.slice(0, HEAD).replace(/^\uFEFF/, '')
}

async function wholeOf(chunks: AsyncIterable<Buffer>): Promise<Line> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const chunk of chunks) {
    length += chunk.length
    if (length <= LONGEST_LINE) pieces.push(Buffer.from(chunk))
  }
  const bytes = length <= LONGEST_LINE ? Buffer.concat(pieces) : undefined
  return { number: 1, offset: 0, length, bytes, ended: true, utf8: false }
}
