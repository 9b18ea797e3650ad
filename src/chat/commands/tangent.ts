/** `/tangent`: a side conversation, and the ways back from it. */
import { createSummaryRequest, DEFAULT_STRATEGY } from '../../conversation/request/compact.ts'
import { isInTangent, openTangents, tangentSeconds } from '../../conversation/tangent.ts'
import { summaryOf } from '../compaction/compact.ts'
import type { Talk } from '../talk.ts'
import type { TalkEvent } from '../turn/event.ts'
import { type Command, count, error, output } from './command.ts'

export const tangentCommand: Command = {
  name: 'tangent',
  args: '[name] | tail | compact [what matters] | list',
  help: 'begin a side conversation, or leave it: without a trace, with its last exchange, or with a summary',
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
    'A tangent begins. /tangent leaves it without a trace, /tangent tail with the last exchange, /tangent compact with a summary.',
  )
}

async function* leave({ desk, state }: Talk, tail: boolean): AsyncGenerator<TalkEvent> {
  if (!isInTangent(state)) {
    yield error('no tangent is open; /tangent begins one.')
    return
  }
  desk.tell({ event: 'tangent_left', tail })
  yield { kind: 'moved' }
  yield output(`Back in ${placeName(desk.state)}${tail ? ', with the last exchange of the tangent' : ''}.`)
}

async function* leaveWithSummary(talk: Talk, wish: string, signal: AbortSignal): AsyncGenerator<TalkEvent> {
  const { desk, rig, state } = talk
  if (!isInTangent(state)) {
    yield error('no tangent is open; /tangent begins one.')
    return
  }
  const before = mainLength(talk)
  const said = { ...state, history: state.history.slice(before), latest_summary: null }
  const request = createSummaryRequest(said, desk.env(), DEFAULT_STRATEGY, wish === '' ? undefined : wish)
  if (!request) {
    yield error('nothing was said in the tangent; /tangent leaves it.')
    return
  }
  yield { kind: 'compacting', automatic: false }
  const summed = yield* summaryOf(request, desk, rig, signal)
  if (summed.kind === 'error') {
    yield error(`it could not be summed up: ${summed.error.message}. The tangent is still open.`)
    return
  }
  const { text: summary } = summed
  const number = desk.nextNumber()
  desk.tell({ event: 'tangent_summed_up', number, summary, timestamp: desk.local(), env_context: desk.env() })
  yield { kind: 'moved' }
  yield output(`Back in ${placeName(desk.state)}, which was told:\n\n${summary}`)
}

/** Exchanges that were there when the innermost tangent began, as far as they still are. */
function mainLength({ state }: Talk): number {
  const main = openTangents(state).at(-1)?.checkpoint ?? state.tangent_state
  return main ? state.history.shared(main.main_history) : 0
}

function listOf({ desk, state }: Talk): string {
  const open = openTangents(state)
  if (open.length === 0) return 'No tangent is open.'
  const seconds = tangentSeconds(state, desk.tangentNow()) ?? 0
  const lines = open.map(({ name }, at) => {
    const here = at === open.length - 1 ? `  <- here, for ${count(seconds, 'second')}` : ''
    return `${'  '.repeat(at)}${name ?? 'tangent'}${here}`
  })
  return lines.join('\n')
}

function placeName(state: Talk['state']): string {
  const inner = openTangents(state).at(-1)
  return inner ? `the tangent ${inner.name ?? ''}`.trim() : 'the main conversation'
}
