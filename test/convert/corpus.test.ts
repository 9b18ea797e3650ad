/**
 * Real conversations, redacted, anonymized and trimmed: same number of messages, same shapes, calls with their results.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { trimConversation } from '../../src/convert/trim.ts'
import { parseStructure } from '../../src/lib/unknown-values.ts'
import type { NormalizedMessage } from '../../src/model/normalized.ts'
import { Anonymizer } from '../../src/redact/anonymizer.ts'
import { Redactor } from '../../src/redact/redactor.ts'
import { readAll } from '../support/read-codex-log.ts'
import { sharedFolder } from '../support/shared-material.ts'

const corpus = sharedFolder('corpus', 'codex')
const files = corpus
  ? readdirSync(corpus, { recursive: true, encoding: 'utf8' })
      .filter((path) => /^(?:archived_)?sessions.*\.jsonl$/.test(path))
      .sort()
      .filter((_, at) => at % 8 === 0)
      .map((path) => join(corpus, path))
  : []

/** What must not change when words are replaced. */
const shapeOf = ({ id, timestamp, role, source_type, segments, tool_call, metadata }: NormalizedMessage): object => ({
  ...{ id, timestamp, role, source_type },
  segments: segments.map(({ channel, type, format }) => [channel, type, format]),
  status: tool_call?.status,
  isJson: [tool_call?.arguments, tool_call?.output].map((text) => parseStructure(text ?? '') !== undefined),
  keys: Object.keys(metadata ?? {}),
})

/** Calls and results by the order in which their ids first occur. */
function pairsOf(messages: readonly NormalizedMessage[]): readonly number[] {
  const ids = [...new Set(messages.map(({ tool_call }) => tool_call?.call_id))]
  return messages.map(({ tool_call }) => ids.indexOf(tool_call?.call_id))
}

describe.skipIf(!corpus)('real conversations', () => {
  test.each(files)('%#', async (path) => {
    const { messages } = await readAll(path)
    const shapes = messages.map(shapeOf)

    const redacted: NormalizedMessage[] = []
    for await (const one of new Redactor().messages(messages)) redacted.push(one)
    expect(redacted.map(shapeOf)).toEqual(shapes)
    expect(pairsOf(redacted)).toEqual(pairsOf(messages))

    const anonymizer = new Anonymizer('key')
    const anonymous = messages.map((one) => anonymizer.message(one))
    expect(anonymous.map(shapeOf)).toEqual(shapes)
    expect(pairsOf(anonymous)).toEqual(pairsOf(messages))
    expect(anonymous.map(({ segments }) => segments.map(({ text }) => text?.length))).toEqual(
      messages.map(({ segments }) => segments.map(({ text }) => text?.length)),
    )

    async function* open(): AsyncGenerator<NormalizedMessage> {
      yield* messages
    }
    const { messages: fewer, turns, tooLarge } = await trimConversation(open, 5_000)
    const stored: NormalizedMessage[] = []
    for await (const one of fewer) stored.push(one)
    expect(turns.kept).toBeGreaterThan(0)
    if (turns.cut === 0 && !tooLarge) expect(stored).toEqual(messages)
    const calls = new Set(stored.flatMap((one) => (one.source_type === 'tool_call' ? [one.tool_call?.call_id] : [])))
    expect(stored.filter((one) => one.source_type === 'tool_result' && !calls.has(one.tool_call?.call_id))).toEqual([])
  })
})
