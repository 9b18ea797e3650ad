/** Who answers: the endpoint, and of its models the one that was asked for, or the one that there is. */

import type { ConversationState } from '../../conversation/state.ts'
import { modelOf } from '../../conversation/state.ts'
import { AppError } from '../../model/error.ts'
import { DEFAULT_MAX_RETRIES } from '../../openai/chat/send/retry.ts'
import type { ChatTransport } from '../../openai/chat/transport.ts'
import { PROFILES } from '../../openai/profile.ts'
import type { Endpoint } from '../endpoint/endpoint.ts'
import {
  type AskJson,
  type ContextWindow,
  contextWindowNotice,
  listModels,
  resolveContextWindow,
} from '../endpoint/models.ts'
import { type NoticeEvent, noticeEvent } from '../turn/event.ts'
import type { ModelServer } from '../turn/gear.ts'

export interface ChosenServer {
  readonly server: ModelServer
  readonly window: ContextWindow
  readonly notices: readonly NoticeEvent[]
}

/** Throws AppError when the server has to be asked for its models and does not answer. */
export async function chooseServer(
  endpoint: Endpoint,
  ask: AskJson,
  transport: ChatTransport,
  wanted: { readonly agentModel: string | null; readonly state: ConversationState },
): Promise<ChosenServer> {
  const model = endpoint.model ?? wanted.agentModel ?? (await chooseModel(endpoint, ask, modelOf(wanted.state)))
  const window = await resolveContextWindow(endpoint, model, ask)
  const unsure = contextWindowNotice(window, model)
  return {
    server: { transport, profile: PROFILES[endpoint.server], model, maxRetries: DEFAULT_MAX_RETRIES },
    window,
    notices: unsure ? [noticeEvent('window_unknown', unsure)] : [],
  }
}

/** The one that answered before, where it is there; else the first. */
async function chooseModel(endpoint: Endpoint, ask: AskJson, before: string | null): Promise<string> {
  const models = await listModels(endpoint, ask)
  const known = models.find(({ id }) => id === before) ?? models[0]
  if (known) return known.id
  const { baseURL } = endpoint
  throw new AppError(
    'not_found',
    `${baseURL} has no model. Load one there, or name one with --model.`,
    `${baseURL} にモデルがありません。サーバーでモデルを読み込むか、--model で指定してください。`,
  )
}
