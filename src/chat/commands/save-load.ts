/** `/save` and `/load`: the conversation in the format of Amazon Q CLI. */
import { existsSync } from 'node:fs'
import { readState, writeState } from '../../conversation/codec/state.ts'
import type { ConversationState } from '../../conversation/state.ts'
import { replaceOwnFile } from '../../lib/files/atomic-file.ts'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { describeSystemError, isSystemError } from '../../lib/files/system-error.ts'
import { AppError } from '../../model/error.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import { resolveTypedPath } from '../attachments.ts'
import { classifyTypedRule } from '../context-files.ts'
import { errorEvent, errorText, noticeEvent } from '../events.ts'
import type { ChatSession } from '../session.ts'
import { TrustStore } from '../trust/trust-store.ts'
import { rangeStart } from '../turn/request.ts'
import { type ChatCommandDefinition, countNoun, groupDigits, outputText } from './command.ts'

export const saveCommand: ChatCommandDefinition = {
  name: 'save',
  args: '<path> [-f]',
  help: phrase(
    'save the conversation to a file in the format of Amazon Q CLI. -f: overwrite',
    '会話を Amazon Q CLI の形でファイルに書く。-f で上書き',
  ),
  async *run({ setup, state }, words) {
    const [word] = words.plain
    if (word === undefined) return yield errorText('/save needs a path.', '/save にはパスを指定してください。')
    const path = resolveTypedPath(word, setup.workspace)
    if (existsSync(path) && !words.has('-f', '--force'))
      return yield errorText(
        `${path} already exists. To overwrite it: /save ${word} -f`,
        `${path} にはすでにファイルがあります。/save ${word} -f で上書きします。`,
      )
    try {
      replaceOwnFile(path, serializeState(state))
    } catch (thrown) {
      if (thrown instanceof AppError) return yield errorEvent(thrown.phrase)
      throw thrown
    }
    const { length } = state.history
    yield outputText(
      `Saved to ${path} (${countNoun(length, 'exchange')}).`,
      `${path} に保存しました（やり取り ${groupDigits(length)} 件）。`,
    )
  },
}

/** Amazon Q CLI format; the range is what would be sent now. */
export function serializeState(state: ConversationState): string {
  const valid_history_range = [rangeStart(state), state.history.length] as const
  return writeState({ ...state, valid_history_range }, { style: 'pretty' })
}

export const loadCommand: ChatCommandDefinition = {
  name: 'load',
  args: '<path>',
  help: phrase(
    'continue a saved conversation with the current tools, model and context',
    '保存した会話を続ける。ツール・モデル・コンテキストは今のまま',
  ),
  async *run(session, words) {
    const [word] = words.plain
    if (word === undefined) return yield errorText('/load needs a path.', '/load にはパスを指定してください。')
    const path = [word, `${word}.json`]
      .map((one) => resolveTypedPath(one, session.setup.workspace))
      .find((one) => existsSync(one))
    if (path === undefined)
      return yield errorText(
        `No such file: ${word} or ${word}.json.`,
        `${word} にも ${word}.json にもファイルがありません。`,
      )
    const now = session.writer.tangentNow()
    const read = readState(readText(path), { now })
    if (!read.ok)
      return yield errorText(
        `${path} is not a saved conversation: ${read.reason}`,
        `${path} は保存した会話ではありません（${read.reason}）。`,
      )
    const { paths, outside } = mergeContextPaths(session, read.value)
    session.writer.changeTo(mergeLoadedState(session, read.value, paths))
    yield { kind: 'moved' }
    if (outside.length > 0) yield noticeEvent('context_outside', outsidePathsText(outside))
    const repairs = read.repairs.length
    const { length } = read.value.history
    yield outputText(
      `Loaded ${path} (${countNoun(length, 'exchange')}${repairs > 0 ? `, ${countNoun(repairs, 'part')} repaired` : ''}).`,
      `${path} を読み込みました（やり取り ${groupDigits(length)} 件）。${repairs > 0 ? `${groupDigits(repairs)} か所を直しました。` : ''}`,
    )
  },
}

/** A saved file may name paths, but only the user can allow those outside the directory. */
function mergeContextPaths(
  { state, setup, commandContext }: ChatSession,
  given: ConversationState,
): { readonly paths: readonly string[]; readonly outside: readonly string[] } {
  const own = state.context_manager?.paths ?? []
  const typed = new TrustStore(commandContext.data).contextPaths()
  const outside: string[] = []
  const added = (given.context_manager?.paths ?? []).filter((rule) => {
    if (own.includes(rule)) return false
    const where = classifyTypedRule(rule, setup.workspace)
    const isAllowed = where.kind === 'inside' || (where.kind === 'outside' && typed.get(where.rule) === where.real)
    if (!isAllowed) outside.push(rule)
    return isAllowed
  })
  return { paths: [...new Set([...own, ...added])], outside }
}

function outsidePathsText(paths: readonly string[]): Phrase {
  const listed = paths.slice(0, 5).join(', ')
  const remaining = paths.length - 5
  return phrase(
    `Files outside this directory are not sent: ${listed}${remaining > 0 ? ` and ${remaining} more` : ''}. To send it, type in a terminal: /context add <path>`,
    `このディレクトリーの外のファイルは送りません：${listed}${remaining > 0 ? ` ほか ${remaining} 件` : ''}。送るには、端末で /context add <パス> と入力してください。`,
  )
}

function mergeLoadedState(
  { state: own }: ChatSession,
  given: ConversationState,
  paths: readonly string[],
): ConversationState {
  const { model_info: _, model: __, ...rest } = given
  return {
    ...rest,
    conversation_id: own.conversation_id,
    mcp_enabled: own.mcp_enabled,
    ...(own.model_info && { model_info: own.model_info }),
    context_manager: own.context_manager && { ...own.context_manager, paths },
    tools: own.tools,
    checkpoint_manager: own.checkpoint_manager,
  }
}

function readText(path: string): string {
  try {
    return readRegularFile(path).toString()
  } catch (thrown) {
    if (!isSystemError(thrown)) throw thrown
    const why = describeSystemError(thrown)
    throw new AppError('no_permission', `${path}: ${why.en}`, `${path}: ${why.ja}`)
  }
}
