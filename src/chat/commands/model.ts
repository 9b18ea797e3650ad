/** `/model`: which model answers from now on. */
import { calcMaxContextFilesSize } from '../../conversation/request/budget.ts'
import { asIs, phrase } from '../../model/phrase.ts'
import { listModels, modelInfoOf, windowNotice, windowOf } from '../endpoint/models.ts'
import type { Talk } from '../talk.ts'
import { error, notice, type TalkEvent } from '../turn/event.ts'
import { type Command, number, output } from './command.ts'

export const modelCommand: Command = {
  name: 'model',
  args: '[name]',
  help: phrase(
    'the models of the server, or the one that answers from now on',
    'サーバーのモデル、またはこれから応答するモデル',
  ),
  async *run(talk, { first }) {
    const { server, rig } = { server: talk.surroundings.endpoint, rig: talk.rig }
    if (!server)
      yield error(
        phrase(
          'a recorded conversation answers; there is no model to choose.',
          '記録した会話が応答しているため、モデルは選べません。',
        ),
      )
    else if (first !== '') yield* useModel(talk, first)
    else {
      const models = await listModels(server.endpoint, server.ask)
      const lines = models.map(({ id }) => `${id === rig.server.model ? '*' : ' '} ${id}`)
      yield output(
        lines.length === 0
          ? phrase('The server lists no models.', 'サーバーの一覧にモデルがありません。')
          : asIs(lines.join('\n')),
      )
    }
  },
}

/** Budgets follow the window of the model. */
export async function* useModel({ desk, rig, surroundings, state }: Talk, model: string): AsyncGenerator<TalkEvent> {
  const { endpoint } = surroundings
  if (!endpoint) return
  const window = await windowOf(endpoint.endpoint, model, endpoint.ask)
  rig.server = { ...rig.server, model }
  const context = state.context_manager
  const max_context_files_size = calcMaxContextFilesSize(window.tokens)
  desk.tell(
    { event: 'model', model_info: modelInfoOf(model, window) },
    ...(context ? [{ event: 'context', context_manager: { ...context, max_context_files_size } } as const] : []),
  )
  const tokens = number(window.tokens)
  yield output(
    phrase(
      `${model} answers from now on; its window has ${tokens} tokens.`,
      `これからは ${model} が応答します。ウィンドウは ${tokens} トークンです。`,
    ),
  )
  const listed = await listModels(endpoint.endpoint, endpoint.ask).catch(() => [])
  if (listed.length > 0 && !listed.some(({ id }) => id === model || id === `${model}:latest`))
    yield notice(
      'model',
      phrase(
        `The server does not list ${model}; /model shows what it lists.`,
        `${model} はサーバーの一覧にありません。/model で一覧を見られます。`,
      ),
    )
  const unsure = windowNotice(window, model)
  if (unsure) yield notice('window_unknown', unsure)
}
