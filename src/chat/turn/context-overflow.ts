/** Whether a server says that a request is larger than the model's window. */
import type { ChatError } from '../../openai/chat/chat-error.ts'

/** OpenAI and vLLM, llama.cpp, LM Studio, Ollama and gateways, each in its own words. */
const OVERFLOW_TEXTS =
  /context[ _](?:length|window|size)|maximum context|max_model_len|exceeds? the (?:available )?context|too many tokens|prompt is too long|input (?:is too long|length)|n_ctx|n_keep|token limit/i

export function isContextOverflow({ kind, status, code, type, message }: ChatError): boolean {
  if (kind !== 'status') return false
  if (code === 'context_length_exceeded' || type === 'exceed_context_size_error') return true
  if (status === 413) return true
  return status !== 429 && OVERFLOW_TEXTS.test(message)
}
