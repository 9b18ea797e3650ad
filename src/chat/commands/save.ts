/** `/save` and `/load`: the conversation as the original program writes and reads it. */
import { existsSync } from 'node:fs'
import { readState } from '../../conversation/codec/read.ts'
import { writeState } from '../../conversation/codec/write.ts'
import type { ConversationState } from '../../conversation/state.ts'
import { replaceFile } from '../../lib/disk/replace-file.ts'
import { readRegular } from '../../lib/files/regular-file.ts'
import { isSystemError, whyOf } from '../../lib/files/system-error.ts'
import { AppError } from '../../model/error.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import { pathOf } from '../attach/attach.ts'
import { typedRule } from '../context/boundary.ts'
import { startOf } from '../request/sending.ts'
import type { Talk } from '../talk.ts'
import { Trust } from '../trust/store.ts'
import { error, notice } from '../turn/event.ts'
import { type Command, count, number, output } from './command.ts'

export const saveCommand: Command = {
  name: 'save',
  args: '<path> [-f]',
  help: phrase(
    'write the conversation to a file, as Amazon Q CLI does. -f: over what is there',
    '会話を Amazon Q CLI の形でファイルに書く。-f で上書き',
  ),
  async *run({ rig, state }, words) {
    const [word] = words.plain
    if (word === undefined) return yield error(phrase('/save takes a path.', '/save にはパスを指定してください。'))
    const path = pathOf(word, rig.place)
    if (existsSync(path) && !words.has('-f', '--force'))
      return yield error(
        phrase(
          `there is a file at ${path} already. /save ${word} -f writes over it.`,
          `${path} にはすでにファイルがあります。/save ${word} -f で上書きします。`,
        ),
      )
    try {
      replaceFile(path, savedState(state))
    } catch (thrown) {
      if (thrown instanceof AppError) return yield error(thrown.phrase)
      throw thrown
    }
    const { length } = state.history
    yield output(
      phrase(
        `Saved to ${path}: ${count(length, 'exchange')}.`,
        `${path} に保存しました（やり取り ${number(length)} 件）。`,
      ),
    )
  },
}

/** What the original would write. Its range is what would be sent now. */
export function savedState(state: ConversationState): string {
  const valid_history_range = [startOf(state), state.history.length] as const
  return writeState({ ...state, valid_history_range }, { style: 'pretty' })
}

export const loadCommand: Command = {
  name: 'load',
  args: '<path>',
  help: phrase(
    'go on with a conversation that was saved; tools, model and context stay those of this one',
    '保存した会話の続き。ツール・モデル・コンテキストは今のまま',
  ),
  async *run(talk, words) {
    const [word] = words.plain
    if (word === undefined) return yield error(phrase('/load takes a path.', '/load にはパスを指定してください。'))
    const path = [word, `${word}.json`].map((one) => pathOf(one, talk.rig.place)).find((one) => existsSync(one))
    if (path === undefined)
      return yield error(
        phrase(`no file is at ${word}, nor at ${word}.json.`, `${word} にも ${word}.json にもファイルがありません。`),
      )
    const now = talk.desk.tangentNow()
    const read = readState(textAt(path), { now })
    if (!read.ok)
      return yield error(
        phrase(
          `${path} is no saved conversation: ${read.reason}`,
          `${path} は保存した会話ではありません（${read.reason}）。`,
        ),
      )
    const { paths, outside } = pathsOf(talk, read.value)
    talk.desk.become(loaded(talk, read.value, paths))
    yield { kind: 'moved' }
    if (outside.length > 0) yield notice('context_outside', notAdopted(outside))
    const repairs = read.repairs.length
    const { length } = read.value.history
    yield output(
      phrase(
        `Went over to ${path}: ${count(length, 'exchange')}${repairs > 0 ? `; ${count(repairs, 'part')} had to be mended` : ''}.`,
        `${path} に移りました（やり取り ${number(length)} 件）。${repairs > 0 ? `${number(repairs)} か所を直しました。` : ''}`,
      ),
    )
  },
}

/** A saved file names paths, but the user has to type those outside of the directory himself, now or earlier. */
function pathsOf(
  { state, rig, surroundings }: Talk,
  given: ConversationState,
): { readonly paths: readonly string[]; readonly outside: readonly string[] } {
  const own = state.context_manager?.paths ?? []
  const typed = new Trust(surroundings.data).contextPaths()
  const outside: string[] = []
  const added = (given.context_manager?.paths ?? []).filter((rule) => {
    if (own.includes(rule)) return false
    const where = typedRule(rule, rig.place)
    const isFree = where.kind === 'inside' || (where.kind === 'outside' && typed.get(where.rule) === where.real)
    if (!isFree) outside.push(rule)
    return isFree
  })
  return { paths: [...new Set([...own, ...added])], outside }
}

function notAdopted(paths: readonly string[]): Phrase {
  const shown = paths.slice(0, 5).join(', ')
  const left = paths.length - 5
  return phrase(
    `The file names context outside of this directory, which is not sent: ${shown}${left > 0 ? ` and ${left} more` : ''}. To send it, type in a terminal: /context add <path>`,
    `このディレクトリーの外のファイルは送りません：${shown}${left > 0 ? ` ほか ${left} 件` : ''}。送るには、端末で /context add <パス> と入力してください。`,
  )
}

/** The journal stays the one it is, so the id does too. */
function loaded({ state: own }: Talk, given: ConversationState, paths: readonly string[]): ConversationState {
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

function textAt(path: string): string {
  try {
    return readRegular(path).toString()
  } catch (thrown) {
    if (!isSystemError(thrown)) throw thrown
    const why = whyOf(thrown)
    throw new AppError('no_permission', `${path}: ${why.en}`, `${path}: ${why.ja}`)
  }
}
