/** `/model`: selects the model. */
import { calcMaxContextFilesSize } from '../../conversation/budget.ts'
import { phrase } from '../../model/phrase.ts'
import { contextWindowNotice, listModels, type Model, resolveContextWindow, toModelInfo } from '../endpoint/models.ts'
import { type ChatSessionEvent, errorText, noticeEvent } from '../events.ts'
import type { ChatSession } from '../session.ts'
import { type ChatCommandDefinition, groupDigits, outputText } from './command.ts'

export const modelCommand: ChatCommandDefinition = {
  name: 'model',
  args: '[number | name | part of a name]',
  help: phrase('list the models of the server, or switch to one', 'サーバーのモデルの一覧、または切り替え'),
  async *run(session, { first }) {
    const server = session.commandContext.endpoint
    if (!server)
      yield errorText(
        'This chat replays a recording, so there is no model to choose.',
        '記録した会話が応答しているため、モデルは選べません。',
      )
    else if (first === '') yield* listChoices(session, await listModels(server.endpoint, server.ask))
    else {
      const models = await listModels(server.endpoint, server.ask).catch(() => [])
      const picked = pickModel(
        first,
        models.map(({ id }) => id),
      )
      if (typeof picked === 'string') yield* switchModel(session, picked)
      else
        yield* listChoices(
          session,
          models.filter(({ id }) => picked.includes(id)),
        )
    }
  },
}

async function* listChoices(
  { setup, commandContext }: ChatSession,
  models: readonly Model[],
): AsyncGenerator<ChatSessionEvent> {
  if (models.length === 0)
    return yield outputText('The server lists no models.', 'サーバーの一覧にモデルがありません。')
  commandContext.listedModels = models.map(({ id }) => id)
  const lines = models.map(({ id, window }, at) => {
    const size = window === undefined ? '' : `  ${groupDigits(window)}`
    return `${id === setup.server.model ? '*' : ' '} ${String(at + 1).padStart(String(models.length).length)}  ${id}${size}`
  })
  const list = lines.join('\n')
  yield outputText(
    `${list}\nType /model <number>, or a part of the name.`,
    `${list}\n/model <番号>、または名前の一部で選べます。`,
  )
}

/** The model that a word names: a number of the list, a name, or the only name that contains it. Several: those to choose from. */
export function pickModel(word: string, models: readonly string[]): string | readonly string[] {
  const numbered = /^\d+$/.test(word) ? models[Number(word) - 1] : undefined
  if (numbered !== undefined) return numbered
  if (models.includes(word) || models.includes(`${word}:latest`)) return word
  const similar = models.filter((id) => id.toLowerCase().includes(word.toLowerCase()))
  return similar.length > 1 ? similar : (similar[0] ?? word)
}

/** Also updates budgets to the model's window. */
export async function* switchModel(
  { writer, setup, commandContext, state }: ChatSession,
  model: string,
): AsyncGenerator<ChatSessionEvent> {
  const { endpoint } = commandContext
  if (!endpoint) return
  const window = await resolveContextWindow(endpoint.endpoint, model, endpoint.ask)
  setup.server = { ...setup.server, model }
  const context = state.context_manager
  const max_context_files_size = calcMaxContextFilesSize(window.tokens)
  writer.append(
    { event: 'model', model_info: toModelInfo(model, window) },
    ...(context ? [{ event: 'context', context_manager: { ...context, max_context_files_size } } as const] : []),
  )
  const tokens = groupDigits(window.tokens)
  yield outputText(
    `Switched to ${model} (context window: ${tokens} tokens).`,
    `${model} に切り替えました（コンテキストウィンドウ ${tokens} トークン）。`,
  )
  const listed = await listModels(endpoint.endpoint, endpoint.ask).catch(() => [])
  if (listed.length > 0 && !listed.some(({ id }) => id === model || id === `${model}:latest`))
    yield noticeEvent(
      'model',
      phrase(
        `The server does not list ${model}. Type /model for a list.`,
        `${model} はサーバーの一覧にありません。/model で一覧を見られます。`,
      ),
    )
  const unsure = contextWindowNotice(window, model)
  if (unsure) yield noticeEvent('window_unknown', unsure)
}
