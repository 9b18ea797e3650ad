/** What each server accepts and rejects, with evidence. When a server changes, change only this file. */

import type { Role } from './message.ts'

/** Known servers, and fine-tuning. */
export type ProfileName = 'openai' | 'openai-strict' | 'ollama' | 'vllm' | 'llamacpp' | 'lmstudio' | 'fine-tune'

/** What a server, or a use of messages, accepts. */
export interface Profile {
  /** Name for display. */
  readonly label: string
  /** The role that is sent for each role. */
  readonly roles: { readonly [role in Role]: Role }
  /** Fields that a message may have besides `role` and `content`, by role. */
  readonly keys: { readonly [role in Role]: readonly string[] }
  /** Whether the server rejects unknown fields. Otherwise they are sent. */
  readonly unknownKeys: 'refused' | 'ignored'
  /** Fields that may be null. */
  readonly nullKeys: readonly string[]
  /** Allowed types of content parts, by role. */
  readonly parts: { readonly [role in Role]: readonly string[] }
  /** Whether image URLs are allowed, and which types of data URIs; default: any. */
  readonly images: { readonly remote: boolean; readonly types?: readonly string[] }
  /** Pattern of allowed call ids. Other ids are replaced by the prefix and this many hexadecimal digits. */
  readonly callIds: { readonly legal: RegExp; readonly prefix: string; readonly digits: number }
  /** Pattern of allowed tool names. */
  readonly toolNames: RegExp
  /** Whether calls of custom tools are allowed. Otherwise they become function calls. */
  readonly customCalls: boolean
  /** Required form of arguments: any text, or the text of a JSON object. */
  readonly arguments: 'text' | 'object'
  /** Required content of a message with only calls: null, an empty text, or either. */
  readonly silence: 'null' | 'empty' | 'any'
  /** Whether a message may be an empty text. Tool results always may. */
  readonly emptyText: boolean
  /** Where instructions are allowed: anywhere, or only in one message at the beginning. */
  readonly system: 'anywhere' | 'first'
  /** Field in which reasoning is sent back to the model. Without it, reasoning is not sent. */
  readonly reasoningKey?: string
  /** For training: the last message is the assistant's, and its calls need no answer. */
  readonly endsWithAssistant: boolean
}

const SAME_ROLES: Profile['roles'] = {
  developer: 'developer',
  system: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  function: 'function',
}

/** Templates of local models know neither `developer` nor `function`. */
const LOCAL_ROLES: Profile['roles'] = { ...SAME_ROLES, developer: 'system', function: 'tool' }

const OPENAI_KEYS: Profile['keys'] = {
  developer: ['name'],
  system: ['name'],
  user: ['name'],
  assistant: ['name', 'refusal', 'audio', 'tool_calls', 'function_call'],
  tool: ['tool_call_id'],
  function: ['name'],
}

/** A tool's name helps servers that use it; no template uses a speaker's name. */
const LOCAL_KEYS: Profile['keys'] = {
  developer: [],
  system: [],
  user: [],
  assistant: ['tool_calls'],
  tool: ['tool_call_id', 'name'],
  function: ['name'],
}

const TEXT_ONLY = ['text']

/** According to the types of openai 6.49, instructions and results are text only, and only assistants refuse. */
const OPENAI_PARTS: Profile['parts'] = {
  developer: TEXT_ONLY,
  system: TEXT_ONLY,
  user: ['text', 'image_url', 'input_audio', 'file'],
  assistant: ['text', 'refusal'],
  tool: TEXT_ONLY,
  function: TEXT_ONLY,
}

const toLocalParts = (...user: readonly string[]): Profile['parts'] => ({
  ...OPENAI_PARTS,
  user,
  assistant: TEXT_ONLY,
})

/** Rejected with "string_above_max_length" from 41 characters: vercel/ai#5171, microsoft/autogen#6377, agno#5382. */
const OPENAI_IDS: Profile['callIds'] = { legal: /^.{1,40}$/su, prefix: 'call_', digits: 24 }
const ANY_IDS: Profile['callIds'] = { ...OPENAI_IDS, legal: /./s }

/** The error message contains the pattern: mcp-use#90, continuedev/continue#9784 (an empty name). */
const OPENAI_NAMES = /^[A-Za-z0-9_-]{1,64}$/

const openai: Profile = {
  label: 'OpenAI',
  roles: SAME_ROLES,
  // OpenAI's own examples send answers back unchanged, with annotations.
  keys: { ...OPENAI_KEYS, assistant: [...OPENAI_KEYS.assistant, 'annotations'] },
  // "Additional properties are not allowed": agentic#531.
  unknownKeys: 'refused',
  nullKeys: ['refusal', 'audio', 'function_call'],
  parts: OPENAI_PARTS,
  images: { remote: true, types: ['png', 'jpeg', 'jpg', 'gif', 'webp'] },
  callIds: OPENAI_IDS,
  toolNames: OPENAI_NAMES,
  customCalls: true,
  arguments: 'text',
  silence: 'any',
  emptyText: true,
  system: 'anywhere',
  endsWithAssistant: false,
}

const LOCAL_SERVER = {
  roles: LOCAL_ROLES,
  keys: LOCAL_KEYS,
  nullKeys: [],
  callIds: ANY_IDS,
  toolNames: /./s,
  customCalls: false,
  arguments: 'object',
  emptyText: true,
  // "System message must be at the beginning": llama.cpp#20733, in Qwen's template, whichever server runs it.
  system: 'first',
  endsWithAssistant: false,
} as const satisfies Partial<Profile>

/**
 * Known servers. To customize one, spread it: `{ ...PROFILES.vllm, callIds: { legal: /^[A-Za-z0-9]{9}$/, prefix: '',
 * digits: 9 } }`.
 */
export const PROFILES: { readonly [name in ProfileName]: Profile } = {
  openai,
  /** Only what the published types allow; nothing deprecated or undocumented. */
  'openai-strict': {
    ...openai,
    label: 'OpenAI (strict)',
    roles: { ...SAME_ROLES, function: 'tool' },
    keys: { ...OPENAI_KEYS, assistant: ['name', 'refusal', 'audio', 'tool_calls'] },
    nullKeys: [],
    arguments: 'object',
    emptyText: false,
  },
  /** openai/openai.go: its Message struct, FromChatRequest. */
  ollama: {
    ...LOCAL_SERVER,
    label: 'Ollama',
    unknownKeys: 'ignored',
    parts: toLocalParts('text', 'image_url'),
    // "invalid image input" for anything else. A data URI without a type is allowed.
    images: { remote: false, types: ['jpeg', 'jpg', 'png', 'webp', ''] },
    // With an empty text, some models write their calls as text: vercel/ai#12390.
    silence: 'null',
    reasoningKey: 'reasoning',
  },
  vllm: {
    ...LOCAL_SERVER,
    label: 'vLLM',
    // "extra_forbidden": vllm#9209; 400 for reasoning_content: Qwen-Agent#470.
    unknownKeys: 'refused',
    parts: toLocalParts('text', 'image_url', 'input_audio', 'audio_url', 'video_url'),
    images: { remote: true },
    silence: 'any',
  },
  /** common/chat.cpp: calls are functions; a null field is not text. */
  llamacpp: {
    ...LOCAL_SERVER,
    label: 'llama.cpp',
    unknownKeys: 'ignored',
    parts: toLocalParts('text', 'image_url', 'input_audio'),
    images: { remote: true },
    // Templates that concatenate texts fail on null: llama.cpp#18463.
    silence: 'empty',
  },
  lmstudio: {
    ...LOCAL_SERVER,
    label: 'LM Studio',
    unknownKeys: 'ignored',
    parts: toLocalParts('text', 'image_url'),
    // "'url' field must be a base64 encoded image", for URLs and for webp: lmstudio-bug-tracker#1120, #1752, #1027.
    images: { remote: false, types: ['png', 'jpeg', 'jpg'] },
    // "'content' field must be a string or an array of objects": lmstudio-bug-tracker#261.
    silence: 'empty',
  },
  /** The fine-tuning schema in OpenAI's API description. Examples end with the answer to learn. */
  'fine-tune': {
    ...openai,
    label: 'Fine-tuning',
    keys: { ...OPENAI_KEYS, assistant: ['name', 'refusal', 'tool_calls', 'function_call', 'weight'] },
    nullKeys: [],
    parts: { ...OPENAI_PARTS, user: ['text', 'image_url'] },
    customCalls: false,
    arguments: 'object',
    emptyText: false,
    endsWithAssistant: true,
  },
}

/** Returns a profile by its name; returns a profile unchanged. */
export function profileOf(profile: ProfileName | Profile): Profile {
  return typeof profile === 'string' ? PROFILES[profile] : profile
}
