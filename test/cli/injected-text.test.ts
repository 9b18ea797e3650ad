/** Only text that a program inserted into a prompt is left out. */
import { expect, test } from 'vitest'
import { numberTurns } from '../../src/cli/select-messages.ts'
import { ConversationRenderer } from '../../src/cli/view/conversation.ts'
import { renderTurnTable } from '../../src/cli/view/turn-table.ts'
import type { Annotation, NormalizedMessage } from '../../src/model/normalized.ts'
import { collectSessionFacts } from '../../src/model/session-facts.ts'
import { groupIntoTurns } from '../../src/model/turn.ts'
import { normalize } from '../../src/normalize.ts'
import { header, tempLog, text as textOf, user } from '../support/codex-log.ts'

async function* promptWith(text: string, annotations: readonly Annotation[]): AsyncGenerator<NormalizedMessage> {
  yield {
    id: 'm-1',
    timestamp: '2026-02-03T09:15:00.000Z',
    role: 'user',
    source_type: 'message',
    segments: [{ channel: 'input', type: 'text', format: 'line', text, annotations }],
    raw: { event_type: null, payload_type: null, file_path: '/log', line_index: 1, session_id: 'codex:s' },
  }
}

async function rendered(text: string, annotations: readonly Annotation[]): Promise<readonly string[]> {
  const facts = await collectSessionFacts(promptWith(text, annotations))
  const renderer = new ConversationRenderer({ facts, all: false, width: 80 })
  let shown = ''
  for await (const one of numberTurns(promptWith(text, annotations), facts)) shown += renderer.add(one)
  return [await renderTurnTable(groupIntoTurns(promptWith(text, annotations), facts), facts), shown + renderer.end()]
}

test('text before, between and after injected texts is shown', async () => {
  const text = 'Look <a/> at <b/> this'
  const injected = (what: string): Annotation => {
    const start = text.indexOf(what)
    return { kind: 'injected', start, end: start + what.length, what }
  }
  for (const shown of await rendered(text, [injected('<a/>'), injected('<b/>')]))
    expect(shown.replaceAll(/ +/g, ' ')).toContain('Look at this')
})

test('a link at the beginning of a prompt is part of it', async () => {
  const link: Annotation = { kind: 'link', start: 0, end: 8, target: '/w/app.ts' }
  for (const shown of await rendered('See this file', [link])) expect(shown).toContain('See this file')
})

test.each(['# Context from my IDE setup:', '\n# Files mentioned by the user:'])(
  'what an editor puts before a request is no prompt: %j',
  async (heading) => {
    const request = 'Why is it slow?'
    const context = `${heading}\n\n## kettle.ts: /w/kettle.ts\n\n## My request for Codex:\n`
    const log = tempLog(textOf([header(), user(1, `${context}${request}\n`), user(2, '# Notes\n\n- Keep it short.')]))
    const prompts: string[] = []
    for await (const { role, segments } of normalize(log))
      if (role === 'user')
        for (const { text = '', annotations } of segments)
          prompts.push(text.slice(annotations?.find(({ kind }) => kind === 'injected')?.end ?? 0).trim())
    expect(prompts).toEqual([request, '# Notes\n\n- Keep it short.'])
  },
)
