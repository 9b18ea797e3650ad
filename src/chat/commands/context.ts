/** `/context`: the files sent with every request, and the contents of a request. */

import { calcMaxContextFilesSize } from '../../conversation/budget.ts'
import { newPrompt } from '../../conversation/new-message.ts'
import type { ContextManager } from '../../conversation/record.ts'
import { findGlobFiles } from '../../lib/files/glob.ts'
import { composePhrase, type Phrase, type PickWording, phrase } from '../../model/phrase.ts'
import { byteLength } from '../../model/token-estimate.ts'
import { classifyTypedRule, contextFileTokens, type TypedRule } from '../context-files.ts'
import { type ChatSessionEvent, errorEvent, errorText } from '../events.ts'
import type { ChatSession } from '../session.ts'
import { TrustStore } from '../trust/trust-store.ts'
import { requestBodyOf } from '../turn/answer.ts'
import { buildOutgoingRequest, contextWindowTokens, renderOpenAIMessages } from '../turn/request.ts'
import {
  type ChatCommandDefinition,
  type CommandWords,
  countNoun,
  groupDigits,
  outputEvent,
  usageError,
} from './command.ts'

export const contextCommand: ChatCommandDefinition = {
  name: 'context',
  args: 'show [--expand | --sent] | add [-f] <path or pattern>... | remove <path>... | clear',
  help: phrase(
    'files sent with every request. --expand: show their text; --sent: show the next request',
    '毎回送るファイル。--expand で本文、--sent で次に送る内容',
  ),
  words: ['show', 'add', 'remove', 'clear'],
  async *run(session, words, signal) {
    switch (words.first) {
      case '':
      case 'show':
        return yield words.has('--sent')
          ? await showNextRequest(session, signal)
          : showRules(session, words.has('--expand'))
      case 'add':
        return yield* addRules(session, words.rest)
      case 'remove':
      case 'rm':
        return yield* removeRules(session, words.rest.plain)
      case 'clear':
        return yield setRules(
          session,
          [],
          phrase('No files are sent with requests now.', '一緒に送るファイルはなくなりました。'),
        )
      default:
        yield usageError(contextCommand)
    }
  },
}

const rulesOf = ({ state }: ChatSession): readonly string[] => state.context_manager?.paths ?? []

function* addRules(session: ChatSession, words: CommandWords): Generator<ChatSessionEvent> {
  const { workspace } = session.setup
  const isForced = words.has('-f', '--force')
  const wanted = words.plain
  if (wanted.length === 0)
    return yield errorText(
      '/context add needs a path or pattern.',
      '/context add にはパスかパターンを指定してください。',
    )
  const { data } = session.commandContext
  const trust = new TrustStore(data)
  const known = trust.contextPaths()
  const outside: Extract<TypedRule, { kind: 'outside' }>[] = []
  for (const rule of wanted) {
    const typed = classifyTypedRule(rule, workspace)
    if (typed.kind === 'link') return yield errorEvent(linkText(rule, typed.real))
    const isNew = typed.kind === 'outside' && known.get(typed.rule) !== typed.real
    if (rulesOf(session).includes(rule) && !isNew)
      return yield errorText(`Rule '${rule}' already exists.`, `「${rule}」はすでにあります。`)
    if (typed.kind === 'outside') outside.push(typed)
    if (!isForced && findGlobFiles(rule, workspace.cwd, workspace.home).length === 0)
      return yield errorText(
        `No such file: ${rule}. Pass -f to add it anyway.`,
        `${rule} にファイルはありません。-f を付けると、それでも追加します。`,
      )
  }
  for (const { rule, real } of outside) trust.addContextPath(rule, real)
  const where = outside.map(({ real }) => real).join(', ')
  const done = phrase(
    `Added ${countNoun(wanted.length, 'rule')}.${where === '' ? '' : ` Outside this directory: ${where}`}`,
    `${groupDigits(wanted.length)} 件を追加しました。${where === '' ? '' : `このディレクトリーの外：${where}`}`,
  )
  yield setRules(session, [...new Set([...rulesOf(session), ...wanted])], done)
}

const linkText = (rule: string, real: string): Phrase =>
  phrase(
    `${rule} is a link to ${real}, outside this directory. To send it, add its real path: /context add ${real}`,
    `${rule} は、このディレクトリーの外の ${real} へのリンクです。送るには、その場所を直接追加してください：/context add ${real}`,
  )

function* removeRules(session: ChatSession, wanted: readonly string[]): Generator<ChatSessionEvent> {
  const remaining = rulesOf(session).filter((rule) => !wanted.includes(rule))
  const removedCount = rulesOf(session).length - remaining.length
  if (removedCount === 0)
    yield errorText(
      'No such rule. Type /context show for a list.',
      '登録されていません。/context show で一覧を見られます。',
    )
  else
    yield setRules(
      session,
      remaining,
      phrase(`Removed ${countNoun(removedCount, 'rule')}.`, `${groupDigits(removedCount)} 件を外しました。`),
    )
}

function setRules(session: ChatSession, paths: readonly string[], done: Phrase): ChatSessionEvent {
  const known = session.state.context_manager ?? session.setup.contextManager(contextWindowTokens(session.state))
  const context_manager: ContextManager = { ...known, paths }
  session.writer.append({ event: 'context', context_manager })
  return outputEvent(done)
}

function showRules(session: ChatSession, isExpanded: boolean): ChatSessionEvent {
  const budget = calcMaxContextFilesSize(contextWindowTokens(session.state))
  const { rules, included, dropped, unreadable, outside } = session.setup.collectContextFiles(rulesOf(session), budget)
  const used = included.reduce((sum, file) => sum + contextFileTokens(file), 0)
  const { name, prompt } = session.setup.agent
  const formatLines = (say: PickWording): readonly string[] => {
    const tokens = (n: number): string => say(`~${countNoun(n, 'token')}`, `約 ${groupDigits(n)} トークン`)
    return [
      ...rules.map(
        ({ rule, files }) =>
          `${rule}  ${say(`(${countNoun(files.length, 'file')})`, `（${groupDigits(files.length)} 件）`)}`,
      ),
      ...(rules.length === 0 ? [say('No context files.', '登録されたファイルはありません。')] : []),
      '',
      ...included.map((file) => `  ${file.path}  ${tokens(contextFileTokens(file))}`),
      ...dropped.map(
        (file) => `  ${file.path}  ${tokens(file.tokens)}${say(', skipped: over the limit', '、入りきらないため省略')}`,
      ),
      ...outside.map(
        ({ path, real }) =>
          `  ${path}  ${say(`outside this directory (${real}), not sent`, `ディレクトリーの外（${real}）のため送りません`)}`,
      ),
      ...unreadable.map((path) => `  ${path}  ${say('skipped: not a text file', 'テキストではないため省略')}`),
      say(
        `~${groupDigits(used)} of ${countNoun(budget, 'token')}, three quarters of the window`,
        `${groupDigits(budget)} トークン（ウィンドウの 4 分の 3）のうち約 ${groupDigits(used)}`,
      ),
      ...(prompt === null
        ? []
        : [say(`The instructions of agent ${name} are also sent.`, `エージェント ${name} の指示も一緒に送ります。`)]),
      ...(isExpanded ? included.flatMap(({ path, content }) => ['', `--- ${path}`, content]) : []),
      ...(isExpanded && session.state.latest_summary
        ? ['', say('--- summary', '--- 要約'), session.state.latest_summary[0]]
        : []),
    ]
  }
  return outputEvent(composePhrase((say) => formatLines(say).join('\n')))
}

/** Uses a sample prompt if none is waiting. */
async function showNextRequest({ writer, setup, state }: ChatSession, signal: AbortSignal): Promise<ChatSessionEvent> {
  const { notices: _, ...requestContext } = await setup.collectContext(
    calcMaxContextFilesSize(contextWindowTokens(state)),
    signal,
  )
  const next_message = state.next_message ?? newPrompt('(your next prompt)', writer.localNow(), writer.env())
  const outgoing = buildOutgoingRequest({ ...state, next_message }, { ...requestContext, env: writer.env() })
  if (!outgoing) return errorText('There is nothing to send.', '送るものがありません。')
  const { profile } = setup.server
  const rendered = renderOpenAIMessages(outgoing.request, {
    profile,
    hasContext: outgoing.contextBytes !== null,
    documents: setup.documentsOf(outgoing.next),
  })
  const text = JSON.stringify(requestBodyOf(setup.server, rendered), null, 2)
  const bytes = byteLength(text)
  return outputEvent(
    composePhrase((say) => `${text}\n${say(countNoun(bytes, 'byte'), `${groupDigits(bytes)} バイト`)}`),
  )
}
