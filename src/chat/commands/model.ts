/** `/model`: which model answers from now on. */
import { calcMaxContextFilesSize } from '../../conversation/request/budget.ts'
import { listModels, modelInfoOf, windowNotice, windowOf } from '../endpoint/models.ts'
import type { Talk } from '../talk.ts'
import type { TalkEvent } from '../turn/event.ts'
import { type Command, error, output } from './command.ts'

export const modelCommand: Command = {
  name: 'model',
  args: '[name]',
  help: 'the models of the server, or the one that answers from now on',
  async *run(talk, { first }) {
    const { server, rig } = { server: talk.surroundings.endpoint, rig: talk.rig }
    if (!server) yield error('a recorded conversation answers; there is no model to choose.')
    else if (first !== '') yield* useModel(talk, first)
    else {
      const models = await listModels(server.endpoint, server.ask)
      const lines = models.map(({ id }) => `${id === rig.server.model ? '*' : ' '} ${id}`)
      yield output(lines.length === 0 ? 'The server lists no models.' : lines.join('\n'))
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
  yield output(`${model} answers from now on; its window has ${window.tokens.toLocaleString('en-US')} tokens.`)
  const listed = await listModels(endpoint.endpoint, endpoint.ask).catch(() => [])
  if (listed.length > 0 && !listed.some(({ id }) => id === model || id === `${model}:latest`))
    yield { kind: 'notice', code: 'model', text: `The server does not list ${model}; /model shows what it lists.` }
  const text = windowNotice(window, model)
  if (text !== undefined) yield { kind: 'notice', code: 'window_unknown', text }
}
