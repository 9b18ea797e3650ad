/** Exports each session of real structures in each format. */
import { Marked, walkTokens } from 'marked'
import { expect, test } from 'vitest'
import { EXPORT_FORMAT_ENTRIES, EXPORT_FORMAT_NAMES } from '../../src/export/formats.ts'
import { readOutline } from '../../src/export/outline.ts'
import type { NormalizedMessage } from '../../src/model/normalized.ts'
import type { Session } from '../../src/model/session.ts'
import { logsAt } from '../../src/normalize.ts'
import { validate } from '../../src/openai/check/validate.ts'
import { sharedFolder } from '../support/shared-material.ts'
import { flawOf } from './check-html.ts'

const FOLDERS = ['amazon-q', 'codex', 'kiro', 'openai']
/** Per log, because files of many conversations contain many similar ones. */
const MOST_SESSIONS = 3
/** Larger sessions only take longer. */
const MOST_MESSAGES = 120

async function* stream<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values
}

async function* sessionsIn(
  folder: string,
): AsyncGenerator<{ session: Session; messages: readonly NormalizedMessage[] }> {
  for await (const { agent, source } of logsAt(folder)) {
    const found = new Map<string, { session: Session; messages: NormalizedMessage[] }>()
    for await (const batch of agent.read(source)) {
      for (const one of batch) {
        if (one.kind === 'session')
          found.set(one.session.id, { session: one.session, messages: found.get(one.session.id)?.messages ?? [] })
        if (one.kind === 'message') found.get(one.message.raw.session_id)?.messages.push(one.message)
      }
      if (found.size > MOST_SESSIONS) break
    }
    for (const { session, messages } of [...found.values()].slice(0, MOST_SESSIONS))
      yield { session, messages: messages.slice(0, MOST_MESSAGES) }
  }
}

test.each(FOLDERS)('%s', async (name) => {
  const folder = sharedFolder('corpus', name)
  if (folder === undefined) return
  let count = 0
  for await (const { session, messages } of sessionsIn(folder)) {
    count++
    const outline = await readOutline(stream(messages))
    const texts = new Map<string, string>()
    for (const format of EXPORT_FORMAT_NAMES) {
      const write = await EXPORT_FORMAT_ENTRIES[format].load()
      let text = ''
      const material = { session, agent: session.agent, outline, messages: stream(messages) }
      for await (const piece of write(material, { all: count % 2 === 0 })) text += piece
      texts.set(format, text)
    }
    expect(flawOf(texts.get('html') ?? ''), session.path).toBeUndefined()
    expect(turnsIn(texts.get('md') ?? ''), session.path).toBe(outline.turns)
    expect(JSON.parse(texts.get('json') ?? '').messages).toHaveLength(messages.length)
    for (const line of (texts.get('sft') ?? '').split('\n').filter((one) => one !== ''))
      expect(validate(JSON.parse(line).messages, 'fine-tune'), session.path).toEqual([])
  }
  expect(count).toBeGreaterThan(2)
})

function turnsIn(document: string): number {
  let turns = 0
  const tokens = new Marked().lexer(document.replace(/^---\n[\s\S]*?\n---\n/, ''))
  walkTokens(tokens, (token) => {
    if (token.type === 'heading' && token['depth'] === 2) turns++
  })
  return turns
}
