/**
 * The context windows of models whose servers do not tell them. The only list of its kind; raise the day with every change.
 * From what their makers publish, compared on that day with several public tables: where those differ, the smaller number
 * stands here, since a window that is taken for too large costs a failed request, and one for too small a summary.
 */

export const WINDOWS_AS_OF = '2026-11-15'

/** In tokens, by the beginning of the model's name; the longest beginning counts. */
const WINDOWS: { readonly [beginning: string]: number } = {
  'gpt-3.5-turbo': 16_385,
  'gpt-4': 8_192,
  'gpt-4-32k': 32_768,
  'gpt-4-turbo': 128_000,
  'gpt-4o': 128_000,
  'gpt-4.1': 1_047_576,
  'gpt-5': 400_000,
  'gpt-5-chat': 128_000,
  'gpt-5.1-chat': 128_000,
  'gpt-5.4': 1_050_000,
  'gpt-5.4-mini': 400_000,
  'gpt-5.4-nano': 400_000,
  'gpt-oss': 131_072,
  o1: 200_000,
  'o1-mini': 128_000,
  'o1-preview': 128_000,
  o3: 200_000,
  'o4-mini': 200_000,
  claude: 200_000,
  'deepseek-chat': 128_000,
  'deepseek-reasoner': 64_000,
  'mistral-large': 128_000,
  'qwen2.5': 32_768,
  qwen3: 40_960,
  'qwen3-coder': 262_144,
  'llama-3.1': 131_072,
  'llama-3.3': 131_072,
  'llama3.1': 131_072,
  'llama3.2': 131_072,
  'gemma-3': 131_072,
  'gemma-3-1b': 32_768,
  gemma3: 131_072,
  'gemma3:1b': 32_768,
}

/** @param model with or without its owner: `openai/gpt-4o` */
export function knownContextWindow(model: string): number | undefined {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase()
  const beginnings = Object.keys(WINDOWS).filter((one) => name.startsWith(one))
  const longest = beginnings.sort((a, b) => b.length - a.length)[0]
  return longest === undefined ? undefined : WINDOWS[longest]
}
