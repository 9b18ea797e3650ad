/** Measures a request while it runs, for the record that the history keeps of it. */
import type { AssistantMessage } from '../../conversation/message.ts'
import type { Duration, MessageMetaTag, RequestMetadata } from '../../conversation/record.ts'
import { byteLength } from '../../conversation/truncate.ts'

export interface MeasuredAnswer {
  readonly assistant: AssistantMessage
  readonly requestId: string | null
  readonly model: string
  readonly tags: readonly MessageMetaTag[]
}

export class Stopwatch {
  readonly #now: () => number
  readonly #began: number
  readonly #promptBytes: number
  readonly #gaps: Duration[] = []
  #first: Duration | null = null
  #last: number
  #bytes = 0

  /** @param now milliseconds since 1970 */
  constructor(now: () => number, promptBytes: number) {
    this.#now = now
    this.#began = now()
    this.#last = this.#began
    this.#promptBytes = promptBytes
  }

  piece(text: string): void {
    const now = this.#now()
    if (this.#first === null) this.#first = durationOf(now - this.#began)
    else this.#gaps.push(durationOf(now - this.#last))
    this.#last = now
    this.#bytes += byteLength(text)
  }

  metadata({ assistant, requestId, model, tags }: MeasuredAnswer): RequestMetadata {
    const uses = 'ToolUse' in assistant ? assistant.ToolUse.tool_uses : []
    const answer = 'ToolUse' in assistant ? assistant.ToolUse : assistant.Response
    return {
      request_id: requestId,
      message_id: answer.message_id ?? '',
      request_start_timestamp_ms: this.#began,
      stream_end_timestamp_ms: Math.max(this.#began, this.#now()),
      time_to_first_chunk: this.#first,
      time_between_chunks: this.#gaps,
      user_prompt_length: this.#promptBytes,
      response_size: this.#bytes,
      chat_conversation_type: uses.length > 0 ? 'ToolUse' : 'NotToolUse',
      tool_use_ids_and_names: uses.map(({ id, name }) => [id, name] as const),
      model_id: model,
      message_meta_tags: tags,
    }
  }
}

function durationOf(milliseconds: number): Duration {
  const positive = Math.max(0, milliseconds)
  return { secs: Math.floor(positive / 1000), nanos: Math.round((positive % 1000) * 1e6) }
}
