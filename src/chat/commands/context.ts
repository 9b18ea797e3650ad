/** `/context`: the files that go with every request, and what a request is made of. */
import { newPrompt } from '../../conversation/create.ts'
import type { ContextManager } from '../../conversation/record.ts'
import { calcMaxContextFilesSize } from '../../conversation/request/budget.ts'
import { byteLength } from '../../conversation/truncate.ts'
import { filesOf } from '../../lib/files/glob.ts'
import { type Phrase, phrase, phrased, type Say } from '../../model/phrase.ts'
import { type TypedRule, typedRule } from '../context/boundary.ts'
import { tokensOf } from '../context/gather.ts'
import { windowTokens } from '../request/fit.ts'
import { openAIMessages } from '../request/openai-messages.ts'
import { sendingOf } from '../request/sending.ts'
import type { Talk } from '../talk.ts'
import { Trust } from '../trust/store.ts'
import { bodyOf } from '../turn/answer.ts'
import { error, type TalkEvent } from '../turn/event.ts'
import { type Command, count, number, output, usage, type Words } from './command.ts'

export const contextCommand: Command = {
  name: 'context',
  args: 'show [--expand | --sent] | add [-f] <path or pattern>... | remove <path>... | clear',
  help: phrase(
    'files that go with every request. --expand: their texts; --sent: the next request as it is sent',
    '毎回送るファイル。--expand で本文、--sent で次に送る内容',
  ),
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
        yield change(talk, [], phrase('No file goes along any more.', '一緒に送るファイルはなくなりました。'))
        return
      default:
        yield usage(contextCommand)
    }
  },
}

const rulesOf = ({ state }: Talk): readonly string[] => state.context_manager?.paths ?? []

function* add(talk: Talk, words: Words): Generator<TalkEvent> {
  const { place } = talk.rig
  const isForced = words.has('-f', '--force')
  const wanted = words.plain
  if (wanted.length === 0)
    return yield error(
      phrase('/context add takes a path or a pattern.', '/context add にはパスかパターンを指定してください。'),
    )
  const { data } = talk.surroundings
  const trust = new Trust(data)
  const known = trust.contextPaths()
  const outside: Extract<TypedRule, { kind: 'outside' }>[] = []
  for (const rule of wanted) {
    const typed = typedRule(rule, place)
    if (typed.kind === 'link') return yield error(linkText(rule, typed.real))
    const isNew = typed.kind === 'outside' && known.get(typed.rule) !== typed.real
    if (rulesOf(talk).includes(rule) && !isNew)
      return yield error(phrase(`Rule '${rule}' already exists.`, `「${rule}」はすでにあります。`))
    if (typed.kind === 'outside') outside.push(typed)
    if (!isForced && filesOf(rule, place.cwd, place.home).length === 0)
      return yield error(
        phrase(
          `no file is at ${rule}. With -f it is added nevertheless.`,
          `${rule} にファイルはありません。-f を付けると、それでも追加します。`,
        ),
      )
  }
  for (const { rule, real } of outside) trust.addContextPath(rule, real)
  const where = outside.map(({ real }) => real).join(', ')
  const done = phrase(
    `Added ${count(wanted.length, 'rule')}.${where === '' ? '' : ` Outside of this directory: ${where}`}`,
    `${number(wanted.length)} 件を追加しました。${where === '' ? '' : `このディレクトリーの外：${where}`}`,
  )
  yield change(talk, [...new Set([...rulesOf(talk), ...wanted])], done)
}

const linkText = (rule: string, real: string): Phrase =>
  phrase(
    `${rule} is a link to ${real}, outside of this directory. To send that, add it by its own path: /context add ${real}`,
    `${rule} は、このディレクトリーの外の ${real} へのリンクです。送るには、その場所を直接追加してください：/context add ${real}`,
  )

function* remove(talk: Talk, wanted: readonly string[]): Generator<TalkEvent> {
  const left = rulesOf(talk).filter((rule) => !wanted.includes(rule))
  const gone = rulesOf(talk).length - left.length
  if (gone === 0)
    yield error(
      phrase(
        'none of them is among the rules; /context show lists them.',
        'どれも登録されていません。/context show で一覧を見られます。',
      ),
    )
  else yield change(talk, left, phrase(`Removed ${count(gone, 'rule')}.`, `${number(gone)} 件を外しました。`))
}

function change(talk: Talk, paths: readonly string[], done: Phrase): TalkEvent {
  const known = talk.state.context_manager ?? talk.rig.contextManager(windowTokens(talk.state))
  const context_manager: ContextManager = { ...known, paths }
  talk.desk.tell({ event: 'context', context_manager })
  return output(done)
}

function show(talk: Talk, isExpanded: boolean): TalkEvent {
  const budget = calcMaxContextFilesSize(windowTokens(talk.state))
  const { rules, kept, dropped, unreadable, outside } = talk.rig.gather(rulesOf(talk), budget)
  const used = kept.reduce((sum, file) => sum + tokensOf(file), 0)
  const { name, prompt } = talk.rig.agent
  const tell = (say: Say): readonly string[] => {
    const tokens = (n: number): string => say(`~${count(n, 'token')}`, `約 ${number(n)} トークン`)
    return [
      ...rules.map(
        ({ rule, files }) => `${rule}  ${say(`(${count(files.length, 'file')})`, `（${number(files.length)} 件）`)}`,
      ),
      ...(rules.length === 0 ? [say('There are no rules.', '登録されたファイルはありません。')] : []),
      '',
      ...kept.map((file) => `  ${file.path}  ${tokens(tokensOf(file))}`),
      ...dropped.map(
        (file) => `  ${file.path}  ${tokens(file.tokens)}${say(', no room for it', '、入りきらないため省略')}`,
      ),
      ...outside.map(
        ({ path, real }) =>
          `  ${path}  ${say(`outside of this directory (${real}), not sent`, `ディレクトリーの外（${real}）のため送りません`)}`,
      ),
      ...unreadable.map((path) => `  ${path}  ${say('no text, left out', 'テキストではないため省略')}`),
      say(
        `~${number(used)} of ${count(budget, 'token')}, three quarters of the window`,
        `${number(budget)} トークン（ウィンドウの 4 分の 3）のうち約 ${number(used)}`,
      ),
      ...(prompt === null
        ? []
        : [say(`The instruction of the agent ${name} goes along.`, `エージェント ${name} の指示も一緒に送ります。`)]),
      ...(isExpanded ? kept.flatMap(({ path, content }) => ['', `--- ${path}`, content]) : []),
      ...(isExpanded && talk.state.latest_summary
        ? ['', say('--- summary', '--- 要約'), talk.state.latest_summary[0]]
        : []),
    ]
  }
  return output(phrased((say) => tell(say).join('\n')))
}

/** With a stand-in where nothing waits. */
async function sent({ desk, rig, state }: Talk, signal: AbortSignal): Promise<TalkEvent> {
  const { notices: _, ...around } = await rig.around(calcMaxContextFilesSize(windowTokens(state)), signal)
  const next_message = state.next_message ?? newPrompt('(your next prompt)', desk.local(), desk.env())
  const sending = sendingOf({ ...state, next_message }, { ...around, env: desk.env() })
  if (!sending) return error(phrase('nothing would be sent.', '送るものがありません。'))
  const { profile } = rig.server
  const rendered = openAIMessages(sending.request, {
    profile,
    hasContext: sending.contextBytes !== null,
    documents: rig.documentsOf(sending.next),
  })
  const text = JSON.stringify(bodyOf(rig.server, rendered), null, 2)
  const bytes = byteLength(text)
  return output(phrased((say) => `${text}\n${say(count(bytes, 'byte'), `${number(bytes)} バイト`)}`))
}
