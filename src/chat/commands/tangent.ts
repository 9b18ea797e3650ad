/** `/tangent`: a side conversation, and the ways back from it. */
import { createSummaryRequest, DEFAULT_STRATEGY } from '../../conversation/request/compact.ts'
import { isInTangent, openTangents, tangentSeconds } from '../../conversation/tangent.ts'
import { type Phrase, phrase, phrased } from '../../model/phrase.ts'
import { summaryOf } from '../compaction/compact.ts'
import type { Talk } from '../talk.ts'
import { error, type TalkEvent } from '../turn/event.ts'
import { faultOf } from '../turn/fault.ts'
import { type Command, count, number, output } from './command.ts'

export const tangentCommand: Command = {
  name: 'tangent',
  args: '[name] | tail | compact [what matters] | list',
  help: phrase(
    'begin a side conversation, or leave it: without a trace, with its last exchange, or with a summary',
    '脇道に入る、または戻る：何も残さず、最後のやり取りを持って、要約を持って',
  ),
  words: ['tail', 'compact', 'list'],
  async *run(talk, words, signal) {
    const isIn = isInTangent(talk.state)
    if (words.first === 'list') yield output(listOf(talk))
    else if (words.first === 'tail') yield* leave(talk, true)
    else if (words.first === 'compact') yield* leaveWithSummary(talk, words.rest.text, signal)
    else if (words.text === '' && isIn) yield* leave(talk, false)
    else yield* enter(talk, words.text)
  },
}

async function* enter({ desk, state }: Talk, name: string): AsyncGenerator<TalkEvent> {
  const nested = isInTangent(state)
  desk.tell({ event: 'tangent_entered', name: name === '' ? null : name, started: desk.tangentNow(), nested })
  yield output(
    phrase(
      'A tangent begins. /tangent leaves it without a trace, /tangent tail with the last exchange, /tangent compact with a summary.',
      '脇道に入りました。/tangent で何も残さずに、/tangent tail で最後のやり取りを持って、/tangent compact で要約を持って戻ります。',
    ),
  )
}

async function* leave({ desk, state }: Talk, tail: boolean): AsyncGenerator<TalkEvent> {
  if (!isInTangent(state)) {
    yield error(NONE_OPEN)
    return
  }
  desk.tell({ event: 'tangent_left', tail })
  yield { kind: 'moved' }
  const place = placeName(desk.state)
  yield output(
    phrase(
      `Back in ${place.en}${tail ? ', with the last exchange of the tangent' : ''}.`,
      tail ? `脇道の最後のやり取りを持って、${place.ja}に戻りました。` : `${place.ja}に戻りました。`,
    ),
  )
}

async function* leaveWithSummary(talk: Talk, wish: string, signal: AbortSignal): AsyncGenerator<TalkEvent> {
  const { desk, rig, state } = talk
  if (!isInTangent(state)) {
    yield error(NONE_OPEN)
    return
  }
  const before = mainLength(talk)
  const said = { ...state, history: state.history.slice(before), latest_summary: null }
  const request = createSummaryRequest(said, desk.env(), DEFAULT_STRATEGY, wish === '' ? undefined : wish)
  if (!request) {
    yield error(
      phrase(
        'nothing was said in the tangent; /tangent leaves it.',
        '脇道ではまだ何も話していません。/tangent で戻ります。',
      ),
    )
    return
  }
  yield { kind: 'compacting', automatic: false }
  const summed = yield* summaryOf(request, desk, rig, signal)
  if (summed.kind === 'error') {
    const { en, ja } = faultOf(summed.error)
    yield error(
      phrase(
        `it could not be summed up: ${en}. The tangent is still open.`,
        `要約できませんでした。${ja}。まだ脇道にいます。`,
      ),
    )
    return
  }
  const { text: summary } = summed
  const number = desk.nextNumber()
  desk.tell({ event: 'tangent_summed_up', number, summary, timestamp: desk.local(), env_context: desk.env() })
  yield { kind: 'moved' }
  const place = placeName(desk.state)
  yield output(
    phrase(
      `Back in ${place.en}, which was told:\n\n${summary}`,
      `次の要約を持って、${place.ja}に戻りました。\n\n${summary}`,
    ),
  )
}

const NONE_OPEN = phrase('no tangent is open; /tangent begins one.', '脇道にはいません。/tangent で入れます。')

/** Exchanges that were there when the innermost tangent began, as far as they still are. */
function mainLength({ state }: Talk): number {
  const main = openTangents(state).at(-1)?.checkpoint ?? state.tangent_state
  return main ? state.history.shared(main.main_history) : 0
}

function listOf({ desk, state }: Talk): Phrase {
  const open = openTangents(state)
  if (open.length === 0) return phrase('No tangent is open.', '脇道にはいません。')
  const seconds = tangentSeconds(state, desk.tangentNow()) ?? 0
  return phrased((say) => {
    const here = say(`  <- here, for ${count(seconds, 'second')}`, `  ← 今ここ、${number(seconds)} 秒`)
    const lines = open.map(
      ({ name }, at) => `${'  '.repeat(at)}${name ?? say('tangent', '脇道')}${at === open.length - 1 ? here : ''}`,
    )
    return lines.join('\n')
  })
}

function placeName(state: Talk['state']): Phrase {
  const inner = openTangents(state).at(-1)
  if (!inner) return phrase('the main conversation', '本筋')
  const { name } = inner
  return name === null ? phrase('the tangent', '外側の脇道') : phrase(`the tangent ${name}`, `脇道「${name}」`)
}
