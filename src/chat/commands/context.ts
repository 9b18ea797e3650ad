/** `/context`: the files that go with every request, and what a request is made of. */
import { newPrompt } from '../../conversation/create.ts'
import type { ContextManager } from '../../conversation/record.ts'
import { calcMaxContextFilesSize } from '../../conversation/request/budget.ts'
import { byteLength } from '../../conversation/truncate.ts'
import { filesOf } from '../../lib/files/glob.ts'
import { gatherFiles, tokensOf } from '../context/gather.ts'
import { windowTokens } from '../request/fit.ts'
import { openAIMessages } from '../request/openai-messages.ts'
import { sendingOf } from '../request/sending.ts'
import type { Talk } from '../talk.ts'
import { bodyOf } from '../turn/answer.ts'
import type { TalkEvent } from '../turn/event.ts'
import { type Command, count, error, output, type Words } from './command.ts'

export const contextCommand: Command = {
  name: 'context',
  args: 'show [--expand | --sent] | add [-f] <path or pattern>... | remove <path>... | clear',
  help: 'files that go with every request. --expand: their texts; --sent: the next request as it is sent',
  words: ['show', 'add', 'remove', 'clear'],
  async *run(talk, words, signal) {
    switch (words.first) {
      case '':
      case 'show':
        yield words.has('--sent') ? await sent(talk, signal) : show(talk, words.has('--expand'))
        return
      case 'add':
        yield* add(talk, words.rest)
        return
      case 'remove':
      case 'rm':
        yield* remove(talk, words.rest.plain)
        return
      case 'clear':
        yield change(talk, [], 'No file goes along any more.')
        return
      default:
        yield error(`/context ${contextCommand.args}`)
    }
  },
}

const rulesOf = ({ state }: Talk): readonly string[] => state.context_manager?.paths ?? []

function* add(talk: Talk, words: Words): Generator<TalkEvent> {
  const { place } = talk.rig
  const isForced = words.has('-f', '--force')
  const wanted = words.plain
  if (wanted.length === 0) return yield error('/context add takes a path or a pattern.')
  for (const rule of wanted) {
    if (rulesOf(talk).includes(rule)) return yield error(`Rule '${rule}' already exists.`)
    if (!isForced && filesOf(rule, place.cwd, place.home).length === 0)
      return yield error(`no file is at ${rule}. With -f it is added nevertheless.`)
  }
  yield change(talk, [...rulesOf(talk), ...wanted], `Added ${count(wanted.length, 'rule')}.`)
}

function* remove(talk: Talk, wanted: readonly string[]): Generator<TalkEvent> {
  const left = rulesOf(talk).filter((rule) => !wanted.includes(rule))
  const gone = rulesOf(talk).length - left.length
  if (gone === 0) yield error('none of them is among the rules; /context show lists them.')
  else yield change(talk, left, `Removed ${count(gone, 'rule')}.`)
}

function change(talk: Talk, paths: readonly string[], done: string): TalkEvent {
  const known = talk.state.context_manager ?? talk.rig.contextManager(windowTokens(talk.state))
  const context_manager: ContextManager = { ...known, paths }
  talk.desk.tell({ event: 'context', context_manager })
  return output(done)
}

function show(talk: Talk, isExpanded: boolean): TalkEvent {
  const budget = calcMaxContextFilesSize(windowTokens(talk.state))
  const { rules, kept, dropped, unreadable } = gatherFiles(rulesOf(talk), talk.rig.place, budget)
  const used = kept.reduce((sum, file) => sum + tokensOf(file), 0)
  const lines = [
    ...rules.map(({ rule, files }) => `${rule}  (${count(files.length, 'file')})`),
    ...(rules.length === 0 ? ['There are no rules.'] : []),
    '',
    ...kept.map((file) => `  ${file.path}  ~${count(tokensOf(file), 'token')}`),
    ...dropped.map((file) => `  ${file.path}  ~${count(tokensOf(file), 'token')}, no room for it`),
    ...unreadable.map((path) => `  ${path}  no text, left out`),
    `~${used.toLocaleString('en-US')} of ${count(budget, 'token')}, three quarters of the window`,
    ...(talk.rig.agent.prompt === null ? [] : [`The instruction of the agent ${talk.rig.agent.name} goes along.`]),
    ...(isExpanded ? kept.flatMap(({ path, content }) => ['', `--- ${path}`, content]) : []),
    ...(isExpanded && talk.state.latest_summary ? ['', '--- summary', talk.state.latest_summary[0]] : []),
  ]
  return output(lines.join('\n'))
}

/** With a stand-in where nothing waits. */
async function sent({ desk, rig, state }: Talk, signal: AbortSignal): Promise<TalkEvent> {
  const { notices: _, ...around } = await rig.around(calcMaxContextFilesSize(windowTokens(state)), signal)
  const next_message = state.next_message ?? newPrompt('(your next prompt)', desk.local(), desk.env())
  const sending = sendingOf({ ...state, next_message }, { ...around, env: desk.env() })
  if (!sending) return error('nothing would be sent.')
  const { profile } = rig.server
  const rendered = openAIMessages(sending.request, {
    profile,
    hasContext: sending.contextBytes !== null,
    documents: rig.documentsOf(sending.next),
  })
  const text = JSON.stringify(bodyOf(rig.server, rendered), null, 2)
  return output(`${text}\n${count(byteLength(text), 'byte')}`)
}
