/** `/tangent`: opens a side conversation and returns from it. */
import { createSummaryRequest, DEFAULT_STRATEGY } from '../../conversation/compact.ts'
import { isInTangent, openTangents, tangentSeconds } from '../../conversation/tangent.ts'
import { composePhrase, type Phrase, phrase } from '../../model/phrase.ts'
import { requestSummary } from '../compaction.ts'
import { type ChatSessionEvent, chatErrorText, errorEvent, errorText } from '../events.ts'
import type { ChatSession } from '../session.ts'
import { type ChatCommandDefinition, countNoun, groupDigits, outputEvent, outputText } from './command.ts'

export const tangentCommand: ChatCommandDefinition = {
  name: 'tangent',
  args: '[name] | tail | compact [what matters] | list',
  help: phrase(
    'start or leave a side conversation. tail: keep its last exchange; compact: keep a summary',
    '脇道に入る、または戻る。tail で最後のやり取りを、compact で要約を残す',
  ),
  words: ['tail', 'compact', 'list'],
  async *run(session, words, signal) {
    const isIn = isInTangent(session.state)
    if (words.first === 'list') yield outputEvent(formatTangents(session))
    else if (words.first === 'tail') yield* leaveTangent(session, true)
    else if (words.first === 'compact') yield* leaveWithSummary(session, words.rest.text, signal)
    else if (words.text === '' && isIn) yield* leaveTangent(session, false)
    else yield* enterTangent(session, words.text)
  },
}

async function* enterTangent({ writer, state }: ChatSession, name: string): AsyncGenerator<ChatSessionEvent> {
  const nested = isInTangent(state)
  writer.append({ event: 'tangent_entered', name: name === '' ? null : name, started: writer.tangentNow(), nested })
  yield outputText(
    'Tangent started. Leave it with /tangent (keep nothing), /tangent tail (keep the last exchange) or /tangent compact (keep a summary).',
    '脇道に入りました。/tangent で何も残さずに、/tangent tail で最後のやり取りを持って、/tangent compact で要約を持って戻ります。',
  )
}

async function* leaveTangent({ writer, state }: ChatSession, tail: boolean): AsyncGenerator<ChatSessionEvent> {
  if (!isInTangent(state)) return yield errorEvent(NO_OPEN_TANGENT)
  writer.append({ event: 'tangent_left', tail })
  yield { kind: 'moved' }
  const location = describeLocation(writer.state)
  yield outputText(
    `Back in ${location.en}${tail ? ', with the last exchange of the tangent' : ''}.`,
    tail ? `脇道の最後のやり取りを持って、${location.ja}に戻りました。` : `${location.ja}に戻りました。`,
  )
}

async function* leaveWithSummary(
  session: ChatSession,
  instruction: string,
  signal: AbortSignal,
): AsyncGenerator<ChatSessionEvent> {
  const { writer, setup, state } = session
  if (!isInTangent(state)) return yield errorEvent(NO_OPEN_TANGENT)
  const before = lengthBeforeTangent(session)
  const tangentState = { ...state, history: state.history.slice(before), latest_summary: null }
  const request = createSummaryRequest(
    tangentState,
    writer.env(),
    DEFAULT_STRATEGY,
    instruction === '' ? undefined : instruction,
  )
  if (!request)
    return yield errorText(
      'The tangent has no exchanges yet. Type /tangent to leave it.',
      '脇道ではまだ何も話していません。/tangent で戻ります。',
    )
  yield { kind: 'compacting', automatic: false }
  const summarized = yield* requestSummary(request, writer, setup, signal)
  if (summarized.kind === 'error') {
    const { en, ja } = chatErrorText(summarized.error)
    yield errorText(
      `Could not summarize: ${en}. The tangent is still open.`,
      `要約できませんでした。${ja}。まだ脇道にいます。`,
    )
    return
  }
  const { text: summary } = summarized
  const number = writer.nextNumber()
  writer.append({
    event: 'tangent_summed_up',
    number,
    summary,
    timestamp: writer.localNow(),
    env_context: writer.env(),
  })
  yield { kind: 'moved' }
  const location = describeLocation(writer.state)
  yield outputText(
    `Back in ${location.en}, with this summary:\n\n${summary}`,
    `次の要約を持って、${location.ja}に戻りました。\n\n${summary}`,
  )
}

const NO_OPEN_TANGENT = phrase(
  'No tangent is open. Type /tangent to start one.',
  '脇道にはいません。/tangent で入れます。',
)

/** Number of exchanges from before the innermost tangent that still exist. */
function lengthBeforeTangent({ state }: ChatSession): number {
  const main = openTangents(state).at(-1)?.checkpoint ?? state.tangent_state
  return main ? state.history.shared(main.main_history) : 0
}

function formatTangents({ writer, state }: ChatSession): Phrase {
  const open = openTangents(state)
  if (open.length === 0) return phrase('No tangent is open.', '脇道にはいません。')
  const seconds = tangentSeconds(state, writer.tangentNow()) ?? 0
  return composePhrase((say) => {
    const marker = say(`  <- here, for ${countNoun(seconds, 'second')}`, `  ← 今ここ、${groupDigits(seconds)} 秒`)
    const lines = open.map(
      ({ name }, at) => `${'  '.repeat(at)}${name ?? say('tangent', '脇道')}${at === open.length - 1 ? marker : ''}`,
    )
    return lines.join('\n')
  })
}

function describeLocation(state: ChatSession['state']): Phrase {
  const inner = openTangents(state).at(-1)
  if (!inner) return phrase('the main conversation', '本筋')
  const { name } = inner
  return name === null ? phrase('the tangent', '外側の脇道') : phrase(`the tangent ${name}`, `脇道「${name}」`)
}
