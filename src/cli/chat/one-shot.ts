/**
 * Answers one prompt without interaction: the answer goes to standard output, everything else to standard error, and
 * each ending has an exit code.
 */
import { constants } from 'node:os'
import { assistantText } from '../../chat/commands/history.ts'
import type { ChatSessionEvent, OpenedChat } from '../../chat/open/open-chat.ts'
import type { CallNeed } from '../../chat/tools/tool.ts'
import { checkSchema } from '../../lib/json/schema-check.ts'
import type { ChatEnding } from '../../model/api/chat.ts'
import { say } from '../language.ts'
import { writeData, writeErr, writeOut, writeOutJson } from '../output.ts'
import { PrintableStream } from './output/screen.ts'
import { formatEventLine } from './output/turn-view.ts'

/** `model/error.ts` has the exit codes of errors. */
const ENDING_EXIT_CODES: { readonly [how in ChatEnding]: number } = {
  answered: 0,
  failed: 10,
  refused: 11,
  consent: 12,
  overflow: 13,
  limit: 14,
  interrupted: 130,
}

const SIGHUP_EXIT_CODE = 128 + constants.signals.SIGHUP

/** The answer does not fit `--schema`, also after it was asked for again. */
const SCHEMA_EXIT_CODE = 15
const MAX_SCHEMA_ATTEMPTS = 3

interface OneShotOptions {
  readonly json: boolean
  /** Of the answer, which is then printed only when it fits. */
  readonly schema?: object
}

/** @param prompt the complete prompt and its typed part. Piped text must not name files outside the project. */
export async function runOneShot(
  { session: chat, greeting }: OpenedChat,
  prompt: { readonly text: string; readonly typed: string },
  { json, schema }: OneShotOptions,
): Promise<number> {
  const stop = (): void => chat.interrupt()
  // The terminal is gone: the conversation is saved, and the exit code is that of the signal.
  let isHungUp = false
  const hangUp = (): void => {
    isHungUp = true
    chat.interrupt()
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  process.on('SIGHUP', hangUp)
  let ending: ChatEnding | undefined
  let isMidLine = false
  // Programs get the exact text; a terminal gets printable text only.
  const printable = new PrintableStream()
  const writeAnswer = (text: string): Promise<void> =>
    process.stdout.isTTY ? writeOut(printable.add(text)) : writeData(text)
  const writeEvent = async (event: ChatSessionEvent): Promise<void> => {
    if (json) return writeOutJson(toJsonEvent(event))
    if (event.kind === 'delta' && schema) return
    if (event.kind === 'delta') {
      isMidLine = !event.text.endsWith('\n')
      return writeAnswer(event.text)
    }
    if (event.kind === 'output') return writeAnswer(say(event.text, event.ja))
    // An answer with tool calls can end in the middle of a line.
    if ((event.kind === 'entry' || event.kind === 'ended') && isMidLine) {
      isMidLine = false
      await writeOut(`${printable.end()}\n`)
    }
    const line = formatEventLine(event)
    if (line !== undefined) await writeErr(`${line}\n`)
  }
  try {
    for (const event of greeting) await writeEvent(event)
    let next = prompt
    for (let attempt = 1; ; attempt++) {
      let answer = ''
      ending = undefined
      for await (const event of chat.send(next.text, next.typed)) {
        if (event.kind === 'ended') ending = event.how
        if (event.kind === 'error') ending ??= 'failed'
        if (event.kind === 'entry') answer = assistantText(event.local.assistant)
        await writeEvent(event)
      }
      if (isHungUp) return SIGHUP_EXIT_CODE
      if (!schema || ending !== 'answered') return ENDING_EXIT_CODES[ending ?? 'answered']
      const checked = checkAnswer(answer, schema)
      if (checked.ok) {
        if (!json) await writeAnswer(`${checked.text}\n`)
        return 0
      }
      await writeErr(
        `fumi: ${say(`The answer does not fit the schema: ${checked.reason}`, `応答が schema に合いません：${checked.reason}`)}\n`,
      )
      if (attempt === MAX_SCHEMA_ATTEMPTS) return SCHEMA_EXIT_CODE
      const correction = `Your answer does not fit the required JSON Schema: ${checked.reason}. Answer again with only the corrected JSON.`
      next = { text: correction, typed: '' }
    }
  } finally {
    process.off('SIGHUP', hangUp)
    process.off('SIGINT', stop)
    process.off('SIGTERM', stop)
  }
}

type CheckedAnswer = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string }

/** Models also put JSON into a code block. */
function checkAnswer(answer: string, schema: object): CheckedAnswer {
  const text = (/^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/.exec(answer)?.[1] ?? answer).trim()
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { ok: false, reason: `it is not JSON (${error instanceof Error ? error.message : ''})` }
  }
  const problems = checkSchema(value, schema)
  if (problems.length === 0) return { ok: true, text }
  return { ok: false, reason: problems.map(({ path, reason }) => `${path || 'it'} ${reason}`).join('; ') }
}

/**
 * The fields that `--json` prints for an event: local details instead of what the API derives from them; texts in
 * English.
 */
function toJsonEvent(event: ChatSessionEvent): object {
  switch (event.kind) {
    case 'retry':
      return { kind: event.kind, ...event.local, attempt: event.attempt, waitMs: event.wait_ms }
    case 'usage': {
      const { usage, purpose } = event.local
      return { kind: event.kind, usage, estimated: event.estimated, purpose }
    }
    case 'entry': {
      const { kind, number, interrupted, local } = event
      return { kind, number, ...local, ...(interrupted !== null && { interrupted }) }
    }
    case 'tool_asked':
    case 'consent_needed':
      return { kind: event.kind, id: event.id, name: event.name, need: toEnglishNeed(event.local.need) }
    case 'tool_done':
      return { kind: event.kind, id: event.id, name: event.name, ...event.local, ms: event.ms }
    case 'ended':
      return { kind: event.kind, how: event.how, ...event.local }
    case 'moved':
    case 'clipboard':
    case 'quit':
      return event
    default: {
      const { local, ...sent } = event
      return Object.fromEntries(Object.entries({ ...sent, ...local }).filter(([key]) => !/^(?:.*_)?ja$/.test(key)))
    }
  }
}

const toEnglishNeed = (need: CallNeed): object => ({
  ...need,
  summary: need.summary.en,
  ...(need.reason && { reason: need.reason.en }),
})
