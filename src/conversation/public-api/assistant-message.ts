/** AssistantMessage as library users know it from the specification. */

import type * as data from '../message.ts'
import { newResponse, newToolUse } from '../new-message.ts'

/**
 * An answer: text alone, or text with tool uses.
 *
 * @example
 * AssistantMessage.newResponse('msg_123', 'Here is the answer.').content()
 */
export class AssistantMessage {
  readonly #message: data.AssistantMessage

  constructor(message: data.AssistantMessage) {
    this.#message = message
  }

  static newResponse(messageId: string | null, content: string): AssistantMessage {
    return new AssistantMessage(newResponse(messageId, content))
  }

  static newToolUse(
    messageId: string | null,
    content: string,
    toolUses: readonly data.AssistantToolUse[],
  ): AssistantMessage {
    return new AssistantMessage(newToolUse(messageId, content, toolUses))
  }

  messageId(): string | null {
    return this.#body().message_id
  }

  content(): string {
    return this.#body().content
  }

  /** Nothing for a plain response; an empty list for a tool use without tools. */
  toolUses(): readonly data.AssistantToolUse[] | undefined {
    return 'ToolUse' in this.#message ? this.#message.ToolUse.tool_uses : undefined
  }

  toJSON(): data.AssistantMessage {
    return this.#message
  }

  #body(): { readonly message_id: string | null; readonly content: string } {
    return 'Response' in this.#message ? this.#message.Response : this.#message.ToolUse
  }
}
