/** One question to a model server outside of a chat: no tools, no journal. */
import { AppError } from '../model/error.ts'
import { requestCompletion } from '../openai/chat/loop.ts'
import { systemClock } from '../openai/chat/transport.ts'
import { splitThinking } from '../openai/stream/reasoning.ts'
import { openAITransport } from '../openai-transport.ts'
import type { Endpoint } from './endpoint/endpoint.ts'
import { explainChatError } from './endpoint/explain-error.ts'
import { fetchModels } from './open/open-chat.ts'

const MAX_RETRIES = 2

export interface OneAnswer {
  readonly text: string
  readonly model: string
}

/** Throws `unusable_data` with the reason if there is no answer. */
export async function askOnce(
  endpoint: Endpoint,
  { instruction, prompt }: { readonly instruction: string; readonly prompt: string },
  signal: AbortSignal,
): Promise<OneAnswer> {
  const { baseURL, apiKey, api } = endpoint
  const model = endpoint.model ?? (await fetchModels(endpoint))[0]?.id
  if (model === undefined)
    throw new AppError('not_found', `${baseURL} has no models.`, `${baseURL} にモデルがありません。`)
  const transport = openAITransport({ baseURL, api, ...(apiKey !== null && { apiKey }) })
  const messages = [
    { role: 'system' as const, content: instruction },
    { role: 'user' as const, content: prompt },
  ]
  const settings = { transport, clock: systemClock, maxRetries: MAX_RETRIES, streams: true }
  const request = requestCompletion({ model, messages }, settings, signal)
  let step = await request.next()
  while (!step.done) step = await request.next()
  const answer = step.value
  if (!('completion' in answer))
    throw new AppError('unusable_data', explainChatError(answer.error, { place: endpoint, model, isTurn: false }))
  const text = splitThinking(answer.completion.choices[0]?.message.allText ?? '').text.trim()
  if (text === '')
    throw new AppError('unusable_data', 'The model gave no answer.', 'モデルから回答がありませんでした。')
  return { text, model }
}
