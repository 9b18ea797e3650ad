/** Servers that are known by name: where they listen unless told otherwise, and what they take. */
import type { ProfileName } from '../../openai/profile.ts'

/** Who answers, as far as it matters here. */
export type ServerName = Extract<ProfileName, 'openai' | 'ollama' | 'llamacpp' | 'lmstudio' | 'vllm'>

export interface ServerPreset {
  readonly label: string
  readonly server: ServerName
  readonly baseURL: string
}

export const PRESETS: { readonly [name in ServerName]: ServerPreset } = {
  openai: { label: 'OpenAI', server: 'openai', baseURL: 'https://api.openai.com/v1' },
  ollama: { label: 'Ollama', server: 'ollama', baseURL: 'http://127.0.0.1:11434/v1' },
  llamacpp: { label: 'llama.cpp', server: 'llamacpp', baseURL: 'http://127.0.0.1:8080/v1' },
  lmstudio: { label: 'LM Studio', server: 'lmstudio', baseURL: 'http://127.0.0.1:1234/v1' },
  vllm: { label: 'vLLM', server: 'vllm', baseURL: 'http://127.0.0.1:8000/v1' },
}

export const isServerName = (name: string): name is ServerName => Object.hasOwn(PRESETS, name)

/** By its address: OpenAI's host, or the port on which a server usually listens on this machine. */
export function detectServer(baseURL: string): ServerName | undefined {
  const url = parseHttpURL(baseURL)
  if (!url) return undefined
  const isLocalhost = ['127.0.0.1', 'localhost', '[::1]', '0.0.0.0'].includes(url.hostname)
  return Object.values(PRESETS).find((preset) => {
    const known = new URL(preset.baseURL)
    return preset.server === 'openai' ? known.host === url.host : isLocalhost && known.port === url.port
  })?.server
}

export function parseHttpURL(text: string): URL | undefined {
  try {
    const url = new URL(text)
    return /^https?:$/.test(url.protocol) ? url : undefined
  } catch {
    return undefined
  }
}
