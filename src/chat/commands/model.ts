/** `/model`: selects the model. */
import { calcMaxContextFilesSize } from '../../conversation/budget.ts'
import { phrase, untranslated } from '../../model/phrase.ts'
import { contextWindowNotice, listModels, resolveContextWindow, toModelInfo } from '../endpoint/models.ts'
import { type ChatSessionEvent, errorText, noticeEvent } from '../events.ts'
import type { ChatSession } from '../session.ts'
import { type ChatCommandDefinition, groupDigits, outputEvent, outputText } from './command.ts'

export const modelCommand: ChatCommandDefinition = {
  name: 'model',
  args: '[name]',
  help: phrase('list the models of the server, or switch to one', 'サーバーのモデルの一覧、または切り替え'),
  async *run(session, { first }) {
    const { server, rig: setup } = { server: session.commandContext.endpoint, rig: session.setup }
    if (!server)
      yield errorText(
        'this chat replays a recording, so there is no model to choose.',
        '記録した会話が応答しているため、モデルは選べません。',
      )
    else if (first !== '') yield* switchModel(session, first)
    else {
      const models = await listModels(server.endpoint, server.ask)
      const lines = models.map(({ id }) => `${id === setup.server.model ? '*' : ' '} ${id}`)
      yield outputEvent(
        lines.length === 0
          ? phrase('The server lists no models.', 'サーバーの一覧にモデルがありません。')
          : untranslated(lines.join('\n')),
      )
    }
  },
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
